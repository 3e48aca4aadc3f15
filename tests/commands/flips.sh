#!/bin/sh
# tests/run: weight 3
# vt-train --flip-swap: labels follow the flips, and a run goes on with the table
# it began with.
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

check_exit "classes that swap" 0 train -o "$T/run" --flip-swap="$T/f.tsv" --trace-samples="$T/trace"
check_exit "none" 0 train -o "$T/plain" --trace-samples="$T/trace0"
check "make another network" sh -c '! cmp -s "$1/run/final.safetensors" "$1/plain/final.safetensors"' sh "$T"
# Sample i is of class i mod 4: of the third class none is flipped.
flips() {
	awk -F '\t' -v class="$2" 'NR > 1 && substr($3, 2) % 4 == class { n += $6 } END { print n + 0 }' "$1"
}
check_same "a class that must not be is not flipped" 0 "$(flips "$T/trace" 2)"
check "which it is otherwise" test "$(flips "$T/trace0" 2)" -gt 0
check_same "others are, as before" "$(flips "$T/trace0" 0) $(flips "$T/trace0" 3)" "$(flips "$T/trace" 0) $(flips "$T/trace" 3)"
check_exit "other threads" 0 train -o "$T/threads" --flip-swap="$T/copy.tsv" --loader-threads=3 -j2
check "and another name: the same network but for the settings" sh -c '
	for d in run threads; do grep -v "\"type\":\"\(start\|end\)\"" "$1/$d/log.jsonl" | jq -c "select(.loss)|[.step,.loss]" >"$1/$d.l"; done
	test -s "$1/run.l" && cmp "$1/run.l" "$1/threads.l"' sh "$T"

stages "0 0 4 0 4 4 24 4 0.05 0 0" >"$T/s.tsv"
check_exit "more epochs with another table" 2 train -o "$T/run" --flip-swap="$T/other.tsv"
check_says "are refused" 'flips was a table and is another table now \(--flip-swap; --override=flips allows it\)'
check_exit "and without a table" 2 train -o "$T/run"
check_says "too" 'flips was a table and is none now'
check_exit "with an equal one they are trained" 0 train -o "$T/run" --flip-swap="$T/copy.tsv"

check_exit "what comes with vt is known by name" 2 train -o "$T/no" --flip-swap=something
check_says "and held against the classes" 'flips/something.tsv: line [0-9]+: class "?Pulling something from left to right"? is not among the 4 classes'
check_exit "a name that is none" 2 train -o "$T/no" --flip-swap=nothing
check_says "lists what there is" 'no nothing in flips \(there are: something'
check_exit "a swap without flips" 2 train -o "$T/no" --no-flip --flip-swap=something
check_says "is wrong use" 'flip-swap and --no-flip'
check "nothing is left of these" test ! -e "$T/no"

# The pairs of Something-Something, in either order of its classes.
cut -f1,2 share/flips/something.tsv | grep -v '^#' | tr '\t' '\n' | sort >"$T/names"
check_same "its classes stand there once each" "6 6" "$(wc -l <"$T/names" | tr -d ' ') $(sort -u "$T/names" | wc -l | tr -d ' ')"
check_same "left and right change places in each" 3 \
	"$(grep -v '^#' share/flips/something.tsv | awk -F '\t' '{ a = $1; gsub(/left/, "L", a); gsub(/right/, "left", a); gsub(/L/, "right", a); n += a == $2 } END { print n }')"
# As a list of classes that holds these and others.
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
	check_exit "which it is for" 0 vt-train -q -i "$T/ss" -m "$T/net.net" --schedule="$T/s.tsv" --device=ref -o "$T/something" --flip-swap=something
else
	skip "which it is for" "no ffmpeg"
fi
plan
