#!/bin/sh
# tests/run: weight 3
# vt-train --flip-swap: labels follow the horizontal flips, and a run resumes
# with its own table only.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/set" 12 8 40 32 5 classes=4
small_net 4 >"$T/net.net"
stages "0 0 2 0 4 4 24 4 0.05 0 0" >"$T/s.tsv"
printf '#class\tmirrored\na\tb\nc\t-\n' >"$T/f.tsv"
cp "$T/f.tsv" "$T/copy.tsv"
printf '#class\tmirrored\na\tc\n' >"$T/other.tsv"
train() {
	vt-train -q -i "$T/set" -m "$T/net.net" --schedule="$T/s.tsv" --device=ref "$@"
}

check_exit "a run with a table of classes that swap" 0 \
	train -o "$T/run" --flip-swap="$T/f.tsv" --trace-samples="$T/trace"
check_exit "a run without a table" 0 train -o "$T/plain" --trace-samples="$T/trace0"
check "the table changes the weights" \
	sh -c '! cmp -s "$1/run/final.safetensors" "$1/plain/final.safetensors"' sh "$T"
# Sample i is of class i mod 4. The table forbids flips of class 2 (c).
flips() {
	awk -F '\t' -v class="$2" 'NR > 1 && substr($3, 2) % 4 == class { n += $6 } END { print n + 0 }' "$1"
}
check_same "a class that must not be flipped is not flipped" 0 "$(flips "$T/trace" 2)"
check "without the table, that class is flipped" test "$(flips "$T/trace0" 2)" -gt 0
check_same "other classes are flipped as without the table" \
	"$(flips "$T/trace0" 0) $(flips "$T/trace0" 3)" "$(flips "$T/trace" 0) $(flips "$T/trace" 3)"
check_exit "a copy of the table, with other numbers of threads" 0 \
	train -o "$T/threads" --flip-swap="$T/copy.tsv" --loader-threads=3 -j2
check "another table name and threads give the same losses" sh -c '
	for d in run threads; do grep -v "\"type\":\"\(start\|end\)\"" "$1/$d/log.jsonl" | jq -c "select(.loss)|[.step,.loss]" >"$1/$d.l"; done
	test -s "$1/run.l" && cmp "$1/run.l" "$1/threads.l"' sh "$T"

stages "0 0 4 0 4 4 24 4 0.05 0 0" >"$T/s.tsv"
check_exit "resuming with another table ends with 2" 2 train -o "$T/run" --flip-swap="$T/other.tsv"
check_says "resuming with another table: the message names --flip-swap and the way out" \
	'flips was a table and is another table now \(--flip-swap; --override=flips allows it\)'
check_message "resuming without the table ends with 2" 2 'flips was a table and is none now' train -o "$T/run"
check_exit "resuming with an equal table" 0 train -o "$T/run" --flip-swap="$T/copy.tsv"

check_exit "a table that comes with vt is found by its name" 2 train -o "$T/no" --flip-swap=something
check_says "the message names the class that the set lacks" \
	'flips/something.tsv: line [0-9]+: class "?Pulling something from left to right"? is not among the 4 classes'
check_message "an unknown table name ends with 2" 2 'no nothing in flips \(there are: something' \
	train -o "$T/no" --flip-swap=nothing
check_exit "--flip-swap with --no-flip ends with 2" 2 train -o "$T/no" --no-flip --flip-swap=something
check_says "--flip-swap with --no-flip: the message names both options" 'flip-swap and --no-flip'
check "a refused run makes no folder" test ! -e "$T/no"

# The table for Something-Something has pairs of classes.
cut -f1,2 share/flips/something.tsv | grep -v '^#' | tr '\t' '\n' | sort >"$T/names"
check_same "the classes of share/flips/something.tsv are listed once each" \
	"6 6" "$(wc -l <"$T/names" | tr -d ' ') $(sort -u "$T/names" | wc -l | tr -d ' ')"
check_same "left and right change places in all three pairs" 3 \
	"$(grep -v '^#' share/flips/something.tsv | awk -F '\t' '{ a = $1; gsub(/left/, "L", a); gsub(/right/, "left", a); gsub(/L/, "right", a); n += a == $2 } END { print n }')"
# A list of classes that contains these and others.
{ cat "$T/names"; seq -f 'other %g' 6; } >"$T/classes"
if command -v ffmpeg >/dev/null && built FFmpeg; then
	ffmpeg -v error -y -nostdin -f lavfi -i testsrc2=s=48x32:r=10:d=1 -c:v mpeg4 "$T/0.mp4" </dev/null
	for i in 1 2 3; do cp "$T/0.mp4" "$T/$i.mp4"; done
	vt-extract -q --classes="$T/classes" --annotations-format=path-label --root="$T" --annotations=- <<-L | vt-pack -q -o "$T/ss" >/dev/null
	0.mp4 0
	1.mp4 3
	2.mp4 7
	3.mp4 11
	L
	check_exit "share/flips/something.tsv fits a set with its classes" 0 \
		vt-train -q -i "$T/ss" -m "$T/net.net" --schedule="$T/s.tsv" --device=ref -o "$T/something" --flip-swap=something
else
	skip "share/flips/something.tsv fits a set with its classes" "no ffmpeg"
fi
plan
