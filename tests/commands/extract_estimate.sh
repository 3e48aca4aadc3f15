#!/bin/sh
# tests/run: weight 10
# vt-extract --estimate is near the true size and writes nothing, and the report
# compares the list with what was extracted: missing, shorter, duplicates.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin

# ---- estimates ----

# size QUANTITY COLUMN: print the value in the table $T/table.
size() {
	awk -F'\t' -v q="$1" -v c="$2" '$1 == q { printf "%.0f", $c }' "$T/table"
}
O=$SHARED/data/overhead_actions
if [ -r "$O/train.csv" ]; then
	vt-extract -q --annotations="$O/train.csv" --root="$O" --short-side=48 --report="$T/whole.jsonl" >"$T/whole.tar"
	bytes=$(wc -c <"$T/whole.tar")
	for n in 40 100; do
		vt-extract -q --annotations="$O/train.csv" --root="$O" --short-side=48 --estimate=$n >"$T/table"
		check "--estimate=$n: bytes within 5 %: $(size bytes 2), wanted $bytes" \
			awk -v e="$(size bytes 2)" -v b="$bytes" 'BEGIN { exit !(e > 0.95 * b && e < 1.05 * b) }'
		check "--estimate=$n: the interval has the true bytes" \
			test "$(size bytes 3)" -le "$bytes" -a "$(size bytes 4)" -ge "$bytes"
	done
	vt-extract -q --annotations="$O/train.csv" --root="$O" --short-side=48 --estimate -j2 >"$T/table"
	check_same "--estimate takes 200 videos, and one of more names is a narrow interval" yes \
		"$(awk -F'\t' '$1 == "bytes" { print ($4 - $3 < 0.02 * $2 ? "yes" : $0) }' "$T/table")"
	vt-extract -q --annotations="$O/train.csv" --root="$O" --short-side=48 --estimate=1000 >"$T/table"
	check_same "--estimate of all videos has their frames exactly" \
		"$(jq -s 'map(select(.type == "summary").frames)[0]' "$T/whole.jsonl" | sed 's/.*/& & &/')" \
		"$(size frames 2) $(size frames 3) $(size frames 4)"
else
	skip "--estimate: bytes within 5 %" "no $O/train.csv"
fi
for k in 1 2 3; do
	ffmpeg -v error -y -nostdin -f lavfi -i "testsrc2=s=96x64:r=25:d=$k" -c:v mpeg4 -q:v 3 "$V/a$k.avi" </dev/null
done
check_exit "--estimate with -o" 0 vt-extract --root="$V" --estimate=2 -o "$T/none.tar" --report="$T/none.jsonl" "$V"/a*.avi
check_says "a note shows size, time and cores" 'note: a stream of [0-9.]+ KiB \(.* to .*\) and [0-9.]+ s \([0-9.]+ s to [0-9.]+ s\) on [0-9]+ cores?, as loaded now, with [0-9.]+ s of processors, from 2 of 3 videos'
# Three more programs on the same processor make the wall time longer, and not the processor time.
cpu=$(taskset -pc $$ 2>/dev/null | sed 's/.*: //; s/[-,].*//')
if [ -n "$cpu" ]; then
	: >"$T/busy"
	for _ in 1 2 3; do taskset -c "$cpu" timeout 20 sh -c "while [ -e '$T/busy' ]; do :; done" & done
	taskset -c "$cpu" vt-extract -q --root="$V" --estimate=3 -j1 "$V"/a*.avi >"$T/table"
	rm "$T/busy"
	wait
	check_same "on a shared processor, the wall time is at least twice the processor time" yes "$(awk -F'\t' '
		{ v[$1] = $2 } END { d = v["hours"] / v["core_hours"] * v["cores"]; print (d > 2 ? "yes" : d) }' "$T/table")"
else
	skip "the wall time of a shared processor" "no taskset"
fi
check_same "--estimate writes neither output nor report" "" "$(find "$T" -name 'none*')"
head -c 3000 "$V/a2.avi" >"$V/cut.avi"
check_exit "--estimate counts refused videos" 0 vt-extract -q --root="$V" --estimate=9 "$V"/a1.avi "$V/cut.avi" "$V/gone.avi"
check_same "--estimate: 2 of 3 videos would be refused" "refused 2 2 2" "$(grep '^refused' "$T/out" | tr '\t' ' ')"
# In two of the three orders, the sample has one intact video and one that is refused.
most=0
for order in "a1 a2 cut" "a1 cut a2" "cut a1 a2"; do
	# shellcheck disable=SC2086
	vt-extract -q --root="$V" --estimate=2 $(printf "$V/%s.avi " $order) >"$T/table"
	[ "$(size refused 4)" -le "$most" ] || most=$(size refused 4)
done
check_same "--estimate: at most all videos of the list are refused" 3 "$most"
for n in 1 x -3; do
	check_exit "--estimate=$n ends with 2" 2 vt-extract --estimate=$n "$V/a1.avi"
	check_says "--estimate=$n: the message shows the wanted number" "--estimate: $n \(wanted videos, at least 2\)"
done
check_exit "--estimate with -n ends with 2" 2 vt-extract -n --estimate "$V/a1.avi"

# ---- the report compares ----

mkdir "$V/x" "$V/y"
cp "$V/a1.avi" "$V/x/one.avi"
cp "$V/a1.avi" "$V/y/same.avi"
cp "$V/a2.avi" "$V/x/two.avi"
cp "$V/a2.avi" "$V/x/copy.avi"
{
	echo path,label,time_start,time_end
	echo x/two.avi,x,,
	echo x/copy.avi,x,,
	echo x/one.avi,x,,
	echo y/same.avi,y,,
	echo y/gone.avi,y,,
	echo cut.avi,y,,
	echo a3.avi,x,1,9
	echo a3.avi,y,0,1
} >"$T/list.csv"
check_message "a list with duplicates and missing videos" 3 \
	'warning: 1 video is shorter than stated; 4 of 8 videos have equal content, in 2 groups \(1 with different labels\); .*/r.jsonl has them' \
	vt-extract --annotations="$T/list.csv" --root="$V" --on-error=skip --report="$T/r.jsonl" -o "$T/r.tar"
check_same "missing: absent and refused videos" "y/gone absent;cut $(jq -r 'select(.key == "cut" and .type == "video").status' "$T/r.jsonl");" \
	"$(jq -r '.missing[]? | "\(.key) \(.reason)"' "$T/r.jsonl" | tr '\n' ';')"
check_same "shorter: a part that ends after its video" "a3_000001_000009 list seconds 8 2" \
	"$(jq -r '.shorter[]? | "\(.key) \(.stated_by) \(.unit) \(.stated) \(.found)"' "$T/r.jsonl")"
check_same "duplicates: different labels first; parts of one video are none" \
	'true ["x/one","y/same"] ["0","1"];false ["x/two","x/copy"] ["0","0"];' \
	"$(jq -r '.duplicates[]? | "\(.different_labels) \(.keys | tojson) \(.labels | tojson)"' "$T/r.jsonl" | tr '\n' ';')"
check_same "they are in the summary, the last line" "summary 2 1 2" \
	"$(tail -1 "$T/r.jsonl" | jq -r '"\(.type) \(.missing | length) \(.shorter | length) \(.duplicates | length)"')"
check_exit "a run that stops" 1 vt-extract --annotations="$T/list.csv" --root="$V" --report="$T/s.jsonl" -o "$T/s.tar"
check_same "missing: videos that were not reached" "a3_000000_000001 not reached" \
	"$(jq -r '.missing[]? | "\(.key) \(.reason)"' "$T/s.jsonl" | tail -1)"
check_exit "no findings" 0 vt-extract --root="$V" "$V/a1.avi" "$V/a2.avi" --report="$T/t.jsonl" -o "$T/t.tar"
check_same "without findings there is no warning" 1 "$(wc -l <"$T/err" | tr -d ' ')"
plan
