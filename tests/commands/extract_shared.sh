#!/bin/sh
# tests/run: weight 13
# vt-extract on the real clips of ../shared: every intact file gives exactly the
# frames that a full decode counted, and every other file is refused with a
# reason.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
C=$SHARED/data/clips
[ -r "$C/MANIFEST.tsv" ] || skip_all "no $C/MANIFEST.tsv"
built FFmpeg || skip_all "no FFmpeg in this build"

# The columns of the manifest decide. Without a codec or decoded frames, the
# file is refused. A note of decoder errors or of a cut means damaged. All other
# files are intact.
awk -F'\t' 'NR > 1 && $4 != "jpeg frames" {
	want = "ok"
	if ($15 ~ /decoder error lines/ || $15 ~ /cut (at|in)/)
		want = "refused"
	if ($4 == "-" || $9 == "-" || $9 == 0)
		want = "failed"
	print $1 "\t" want "\t" $9
}' "$C/MANIFEST.tsv" >"$T/want"

# This part compares counts, not pixels, so small frames save time. Run once for
# each extension, because a key omits the extension.
cut -f1 "$T/want" | sed 's/.*\.//' | sort -u >"$T/extensions"
: >"$T/got"
while read -r e; do
	cut -f1 "$T/want" | grep "\.$e\$" | sed "s|^|$C/|" >"$T/files"
	got=0
	vt-extract -q --short-side=32 --on-error=skip -T "$T/files" --root "$C" --report="$T/r.jsonl" >/dev/null 2>"$T/err" || got=$?
	case $got in
	0 | 3) ;;
	*) diag "exit $got for .$e: $(head -1 "$T/err")" ;;
	esac
	jq -r --arg c "$C/" 'select(.type=="video")|[(.path|ltrimstr($c)),.status,.decoded_frames,.message]|@tsv' "$T/r.jsonl" >>"$T/got"
done <"$T/extensions"

while IFS="$(printf '\t')" read -r f want frames; do
	IFS="$(printf '\t')" read -r _ status n message <<-ROW
	$(grep -F "$f	" "$T/got")
	ROW
	case $want:$status in
	ok:ok) check_same "$f: whole, all frames" "$frames" "$n" ;;
	failed:failed | refused:truncated | refused:damaged)
		check "$f: refused, with a reason" test -n "$message" ;;
	*)
		not_ok "$f: $want"
		diag "got ${status:-nothing}, $n frames: $message"
		;;
	esac
done <"$T/want"
if grep -q refused "$T/want"; then
	check_same "truncated files are reported as truncated, not damaged" "truncated" \
		"$(grep -h '^derived/truncated_[fh6]' "$T/got" | cut -f2 | sort -u | tr '\n' ' ' | sed 's/ $//')"
fi

# Times of variable rates, in 0.1 ms from the first frame.
for f in action/mmaction2_demo_skeleton.mp4 derived/vfr_dropped.mp4 nasty/filetype.asf derived/vfr_30_then_12.mp4; do
	[ -r "$C/$f" ] && command -v ffprobe >/dev/null || continue
	ffprobe -v error -select_streams v:0 -show_entries frame=best_effort_timestamp_time -of csv=p=0 "$C/$f" |
		grep '^[0-9]' | awk -F, 'NR == 1 {a = $1} {printf "%d\n", ($1 - a) * 10000 + 0.5}' >"$T/times"
	vt-extract -q --short-side=32 --root "$C" "$C/$f" | tar xOf - --wildcards '*.json' | jq -r '.t[]' >"$T/stored"
	check_same "$f: times as ffprobe has them" "0 of $(wc -l <"$T/times") differ" \
		"$(paste "$T/times" "$T/stored" | awk '{d = $1 - $2; bad += d < -1 || d > 1 || NF != 2} END {print bad + 0 " of " NR " differ"}')"
done

# A list that comes with a set of real clips.
O=$SHARED/data/overhead_actions
if [ -r "$O/train.csv" ]; then
	head -13 "$O/train.csv" >"$T/list.csv"
	vt-extract --short-side=32 --annotations="$T/list.csv" --root="$O" -o "$T/o.tar" --report="$T/r.jsonl" 2>"$T/err"
	check_same "overhead_actions: frames and labels of its own list" \
		"$(sed 1d "$T/list.csv" | cut -d, -f2,8 | tr '\n' ' ')" \
		"$(jq -r --argjson c "$(tar xOf "$T/o.tar" __vt__/.head | jq -c .classes)" 'select(.type=="video")|"\($c[.label]),\(.frames)"' "$T/r.jsonl" | tr '\n' ' ')"
fi
plan
