#!/bin/sh
# tests/run: weight 4
# vt-extract --split divides lists by hash: proportions, groups, classes, lists
# that grow; --print-list prints every format of lists as a CSV that gives the
# same stream.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

# 2000 videos of 10 classes and 200 recordings. No file is opened.
awk 'BEGIN { print "path,label,take"
	for (i = 0; i < 2000; i++) printf "c%d/v%04d.mp4,c%d,t%03d\n", i % 10, i, i % 10, int(i / 10) }' >"$T/all.csv"
# list ARGUMENT...: print "PATH,LABEL,...,SUBSET" without the header.
list() {
	vt-extract -q --print-list "$@" | sed 1d
}
# counts: print the number of lines with each last field.
counts() {
	sed 's/.*,//' | LC_ALL=C sort | uniq -c | awk '{ printf "%s%s %s", (NR > 1 ? " " : ""), $2, $1 }'
}
# near WHAT WANTED TOLERANCE GOT: pass if GOT is that near.
near() {
	check "$1: $4, wanted $2 +- $3" awk -v w="$2" -v t="$3" -v g="$4" 'BEGIN { exit !(g >= w - t && g <= w + t) }'
}

# ---- proportions ----

list --annotations="$T/all.csv" --split=8:1:1 >"$T/8"
near "8:1:1 of 2000 videos has 200 for validation, within 4 standard deviations" 200 54 "$(grep -c ',val$' "$T/8")"
near "8:1:1 of 2000 videos has 200 for test, within 4 standard deviations" 200 54 "$(grep -c ',test$' "$T/8")"
check_same "two proportions are train and test" "test train" \
	"$(list --annotations="$T/all.csv" --split=3:1 | sed 's/.*,//' | LC_ALL=C sort -u | tr '\n' ' ' | sed 's/ $//')"
check_same "80:10:10 is 8:1:1" "$(cat "$T/8")" "$(list --annotations="$T/all.csv" --split=80:10:10)"
for s in train val test; do
	list --annotations="$T/all.csv" --split=8:1:1 --subset=$s
done >"$T/parts"
check_same "the subsets together are the list" "$(LC_ALL=C sort "$T/8")" "$(LC_ALL=C sort "$T/parts")"
if command -v xxhsum >/dev/null; then
	h=$(printf '7 c3/v0003' | xxhsum -H3 - | sed 's/.*= //; s/^XXH3_//; s/ .*//')
	want=$(python3 -c "u=int('$h',16)/2**64*10; print('train' if u<8 else 'val' if u<9 else 'test')" 2>/dev/null)
	check_same "the hash is the one that vt-extract(1) names" "$want" \
		"$(list --annotations="$T/all.csv" --split=8:1:1 --split-seed=7 | sed -n 's|^c3/v0003.mp4,.*,||p')"
else
	skip "the hash is the one that vt-extract(1) names" "no xxhsum"
fi

# ---- lists that grow ----

# moved OLD NEW: print the number of lines of OLD that NEW lacks.
moved() {
	LC_ALL=C sort "$2" >"$T/new"
	LC_ALL=C sort "$1" | LC_ALL=C comm -23 - "$T/new" | wc -l | tr -d ' '
}
# Insert 500 videos of old and new classes, the half of them before the others.
awk 'NR == 1 { print; for (i = 0; i < 500; i++) if (i % 2) printf "a%d/n%d.mp4,a%d,n%d\n", i % 7, i, i % 7, i % 9; next }
	{ print }
	END { for (i = 0; i < 500; i += 2) printf "c%d/n%d.mp4,c%d,t%03d\n", i % 10, i, i % 10, i % 200 }' "$T/all.csv" >"$T/grown.csv"
list --annotations="$T/all.csv" --split=8:1:1 --split-seed=1 >"$T/1"
check "another --split-seed gives another division" test "$(moved "$T/8" "$T/1")" -gt 100
for o in --split-seed=0 --group=take; do
	list --annotations="$T/all.csv" --split=8:1:1 $o >"$T/old"
	list --annotations="$T/grown.csv" --split=8:1:1 $o >"$T/grown"
	check_same "$o: a list that grows anywhere moves nothing" "0 2500" "$(moved "$T/old" "$T/grown") $(wc -l <"$T/grown")"
done
(sed -n 1p "$T/all.csv"; sed 1d "$T/all.csv" | tac) >"$T/back.csv"
check_same "the order of the list does not matter" 0 \
	"$(list --annotations="$T/back.csv" --split=8:1:1 >"$T/back"; moved "$T/8" "$T/back")"
(cat "$T/all.csv"; sed 1d "$T/grown.csv" | grep '/n') >"$T/appended.csv"
for o in --stratify '--stratify --group=take'; do
	# shellcheck disable=SC2086
	list --annotations="$T/all.csv" --split=8:1:1 $o >"$T/old"
	# shellcheck disable=SC2086
	list --annotations="$T/appended.csv" --split=8:1:1 $o >"$T/grown"
	check_same "$o: a list that grows at its end moves nothing" 0 "$(moved "$T/old" "$T/grown")"
done

# ---- groups and classes ----

check_same "--group keeps every recording in one subset" 200 \
	"$(list --annotations="$T/all.csv" --split=8:1:1 --group=take | cut -d, -f3,4 | sort -u | wc -l | tr -d ' ')"
check_same "--group: the subsets have all recordings in about these proportions" yes \
	"$(list --annotations="$T/all.csv" --split=8:1:1 --group=take | cut -d, -f3,4 | sort -u | counts |
	awk '{ print ($2 > 3 && $2 < 37 && $6 > 3 && $6 < 37 ? "yes" : $0) }')"
check_same "--stratify gives each class exactly 8:1:1" "10 test 20 train 160 val 20" \
	"$(for k in 0 1 2 3 4 5 6 7 8 9; do
		list --annotations="$T/all.csv" --split=8:1:1 --stratify | grep ",c$k," | counts
		echo
	done | sort | uniq -c | sed 's/^ *//')"
head -38 "$T/all.csv" >"$T/few.csv"
check_same "--stratify: the counts of an incomplete block are within one block" yes \
	"$(list --annotations="$T/few.csv" --split=2:1 --stratify | grep ',c1,' | counts | awk '{ print ($2 <= 2 && $4 >= 2 ? "yes" : $0) }')"
list --annotations="$T/all.csv" --split=8:1:1 --stratify >"$T/0"
list --annotations="$T/all.csv" --split=8:1:1 --stratify --split-seed=1 >"$T/1"
check "--stratify: another seed gives another division" test "$(moved "$T/0" "$T/1")" -gt 100
check_same "--stratify --group keeps every recording in one subset" 200 \
	"$(list --annotations="$T/all.csv" --split=8:1:1 --group=take --stratify | cut -d, -f3,4 | sort -u | wc -l | tr -d ' ')"

# ---- parts of one video ----

for h in time_start,time_end frame_start,frame_end; do
	awk -v h="$h" 'BEGIN { print "path,label," h
		for (i = 0; i < 400; i++) printf "c%d/v%d.mp4,c%d,%d,%d\n", i % 2, i % 100, i % 2, int(i / 100) * 5, int(i / 100) * 5 + 5 }' >"$T/parts.csv"
	for o in --split-seed=0 --stratify; do
		check_exit "$o: parts by $h are divided" 0 vt-extract --print-list --annotations="$T/parts.csv" --split=1:1 $o
		check_same "$o: the parts of a video by $h are in one subset" "100 2" \
			"$(sed 1d "$T/out" | cut -d, -f1,5 | sort -u | wc -l | tr -d ' ') $(sed 1d "$T/out" | cut -d, -f5 | sort -u | wc -l | tr -d ' ')"
		check_says "$o: the note counts videos by $h" 'note: 100 videos .400 rows. divided: train: (4|5)[0-9], test: (4|5)[0-9]$'
	done
done
check_same "a part is in the subset of the whole video" "$(sort "$T/8" | head -50 | sed 's/.*,//')" \
	"$(sort "$T/8" | head -50 | sed 's/,.*//' | awk 'BEGIN { print "path,time_start,time_end" } { print $0 ",1,2" }' >"$T/p.csv"
	list --annotations="$T/p.csv" --split=8:1:1 | sed 's/.*,//')"
printf 'path,label,time_start,time_end,who\n' >"$T/who.csv"
for i in 0 1 2 3 4 5 6 7; do printf 'v.mp4,a,%d,%d,p%d\n' $i $((i + 1)) $i; done >>"$T/who.csv"
check_exit "--group may divide the parts of a video" 0 vt-extract --print-list --annotations="$T/who.csv" --split=1:1 --group=who
check_says "--group that divides the parts of a video: a warning" 'warning: 1 video is in two subsets: the rows of one video have several groups'

# ---- refusals ----

# wrong REGEX ARGUMENT...: check exit 2 and the message.
wrong() {
	re=$1
	shift
	check_message "wrong: $*" 2 "$re" vt-extract "$@"
}
wrong '--split: 8 \(wanted two or three integers from 1 to 1000, such as 8:1:1\)' --split=8 --print-list a.mp4
wrong '--split: 8:0:1' --split=8:0:1 --print-list a.mp4
wrong '--split: 1:1:1:1' --split=1:1:1:1 --print-list a.mp4
wrong '--subset: dev \(wanted train, val or test, of --split=8:1:1\)' --split=8:1:1 --subset=dev a.mp4
wrong '--subset: val \(wanted train or test, of --split=8:1\)' --split=8:1 --subset=val a.mp4
wrong '--split without --subset \(wanted --subset=train, val or test, or --print-list\)' --split=8:1:1 a.mp4
wrong '--group is for --annotations, which is missing' --group=take a.mp4
wrong '--stratify is for --split' --stratify a.mp4
wrong '--split-seed is for --split' --split-seed=1 a.mp4
wrong '--print-list with -o' --print-list -o "$T/x" a.mp4
wrong 'no option --list=.* \(.*similar: --list-fps\)' --list="$T/all.csv"
# refused REGEX ARGUMENT...: check exit 1, one line on standard error, and none
# on standard output.
refused() {
	re=$1
	shift
	check_message "refused: $*" 1 "$re" vt-extract -q --print-list "$@"
	check_same "refused: one line: $re" "1 0" "$(wc -l <"$T/err" | tr -d ' ') $(wc -c <"$T/out" | tr -d ' ')"
}
refused 'all.csv: CSV without a column person \(wanted a list whose header has it, for --group\)' \
	--annotations="$T/all.csv" --split=8:1:1 --group=person
printf 'a.mp4 1\nb.mp4 2\n' >"$T/plain"
refused 'plain: path and label without a column take' --annotations="$T/plain" --split=8:1:1 --group=take
refused 'a.mp4: no take \(wanted only videos of --annotations, for --group\)' \
	--annotations="$T/all.csv" --split=8:1:1 --group=take a.mp4
printf 'path,take\na.mp4,1\nb.mp4,\n' >"$T/hole.csv"
refused 'hole.csv: line 3: no take \(wanted one in each line' --annotations="$T/hole.csv" --split=8:1:1 --group=take
refused 'no video in subset test, of 1 \(wanted a longer list' --split=1000:1 --subset=test --split-seed=0 a.mp4
refused 'a line end, which a list cannot hold' "$(printf 'a\nb.mp4')"
printf 'path,frame_start,frame_end\na,3,3\n' >"$T/frames.csv"
refused 'frames.csv: line 2: frames 3 to 3 \(wanted integers' --annotations="$T/frames.csv"
printf 'path,label_set\na,1 2\n' >"$T/set.csv"
refused 'set.csv: line 2: label_set: "1 2" \(wanted a class, alone' --annotations="$T/set.csv"
printf 'path,label,label_set\na,1,2\n' >"$T/set.csv"
refused 'set.csv: line 2: label and label_set' --annotations="$T/set.csv"

printf 'path,label:verb,label:noun\na.mp4,take,cup\n' >"$T/verb.csv"
check_same "labels in columns with names are printed" "a.mp4,,take,cup" "$(list --annotations="$T/verb.csv")"
check_exit "labels in columns with names are not extracted" 1 vt-extract -n --annotations="$T/verb.csv"
check_says "labels in columns with names: the message has the way out" \
	'labels in the column verb \(wanted one column label; --print-list prints the list\)'

# ---- a subset of a list, extracted ----

if built FFmpeg && command -v ffmpeg >/dev/null; then
	V=$T/v
	mkdir -p "$V/c0" "$V/c1"
	for k in 0 1 2 3 4 5 6 7; do
		ffmpeg -v error -y -nostdin -f lavfi -i "testsrc2=s=32x32:r=5:d=0.4" -c:v mpeg4 "$V/c$((k % 2))/v$k.mp4" </dev/null
	done
	for k in 0 1 2 3 4 5 6 7; do echo "c$((k % 2))/v$k.mp4 c$((k % 2))"; done >"$T/eight"
	check_exit "a subset is extracted" 0 vt-extract --root="$V" --annotations="$T/eight" --split=2:1 --subset=test --stratify -o "$T/test.tar"
	check_says "a note counts the subsets" 'note: 8 videos divided: train: [0-9], test: [0-9]'
	check_same "the stream has the videos that --print-list prints" \
		"$(list --root="$V" --annotations="$T/eight" --split=2:1 --subset=test --stratify | sed 's/\.mp4.*//' | tr '\n' ' ')" \
		"$(tar tf "$T/test.tar" | sed -n 's/\.json$//p' | tr '\n' ' ')"
	check_same "a subset has the classes of the whole list" '["c0","c1"]' \
		"$(tar xOf "$T/test.tar" __vt__/.head | jq -c .classes)"
fi
plan
