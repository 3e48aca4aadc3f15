#!/bin/sh
# vt-eval --curve: how runs trained, as a table and as a picture: of logs that
# are made up, whose values are known, and of a run that was killed and resumed.
# tests/run: weight 7
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

# step STEP EPOCH CLIPS SECONDS RATE LOSS, val STEP EPOCH TOP1, start STEP: lines
step() {
	echo "{\"clips\":$3,\"clips_per_s\":$5,\"epoch\":$2,\"loss\":$6,\"seconds\":$4,\"step\":$1,\"type\":\"step\"}"
}
val() {
	echo "{\"epoch\":$2,\"step\":$1,\"top1\":$3,\"type\":\"validation\"}"
}
start() {
	echo "{\"step\":$1,\"time\":\"2026-01-01T00:00:00Z\",\"type\":\"start\"}"
}
# made DIR: a run with standard input as its log
made() {
	mkdir -p "$T/$1"
	cat >"$T/$1/log.jsonl"
}
# rows SERIES [COLUMNS]: those of the table, in one line
rows() {
	awk -F '\t' -v s="$1" -v c="${2:-3,4,5}" 'BEGIN { n = split(c, f, ",") }
		$2 == s { for (i = 1; i <= n; i++) printf "%s%s", $f[i], i < n ? " " : "; " }' "$T/t.tsv"
}
# curve ARGUMENT...: its table
curve() {
	vt-eval --curve="$T/t.tsv" "$@" 2>"$T/err" || diag "$(cat "$T/err")"
}

# ---- one run ----

# 8 clips a step, 40 samples; lines of 10, 10 and 5 steps at 1, 2 and 4 s a step.
{
	start 0
	step 10 2 80 10 8 2
	val 15 3 0.25
	step 20 4 160 20 4 1.5
	val 20 4 0.5
	step 25 5 200 20 2 null
	val 25 5 0.75
	echo '{"status":0,"step":25,"type":"end"}'
} | made one
curve -k "$T/one"
check_same "columns" "#curve series epoch seconds value error runs cells" "$(head -1 "$T/t.tsv" | tr '\t' ' ')"
check_same "losses over epochs and seconds" "2 10 2; 4 30 1.5; 5 50 ; " "$(rows loss)"
check_same "accuracies, between two lines at their place" "3 20 0.25; 4 30 0.5; 5 50 0.75; " "$(rows top1)"
check_same "of one run without an error, called by its folder" "one  1; " "$(rows loss 1,6,7 | grep -o '^[^;]*; ')"
check_same "without a schedule no cells" "" "$(rows loss 8 | tr -d '; ')"
cp "$T/t.tsv" "$T/one.tsv"
curve -k "$T/one/log.jsonl"
check_same "the log itself is the same" "$(cut -f2- "$T/one.tsv")" "$(cut -f2- "$T/t.tsv")"

# Stages that visit one cell and three.
stages "0 0 2 0 8 4 32 4 0.1 0 0" "1 2 5 0 16 4 22 4 0.1 0 0" "1 2 5 1 8 4 32 4 0.1 0 0" >"$T/one/schedule.tsv"
curve -k "$T/one"
check_same "with one the cells of each point" "8x4x32; 16x4x22,8x4x32; 16x4x22,8x4x32; " "$(rows loss 8)"

# ---- killed, going on, repeated ----

# Saved after 14 and killed: steps 15 on are done again, and the seconds of 11 to
# 14 went with their line; the clips of the next one took 0.5 s each.
{
	start 0
	step 10 2 80 10 8 2
	val 10 2 0.2
	start 14
	step 20 4 160 24 2 1.5
	val 20 4 0.4
} | made killed
curve -k "$T/killed"
check_same "steps whose line was lost took as long as the next" "2 10 2; 4 50 1.5; " "$(rows loss)"
check_same "and accuracies are where they were" "2 10 0.2; 4 50 0.4; " "$(rows top1)"
{
	start 0
	step 10 2 80 10 8 2
	step 20 4 160 11 8 9
	val 20 4 0.9
	step 30 6 240 11 8 9
	start 10
	step 20 4 160 20 4 1.5
	val 20 4 0.4
	start 20
	val 20 4 0.5
	printf '{"clips":240,"clips_per_s":8,"epoch":6,"lo'
} | made again
curve -k "$T/again"
check_same "steps that were done again count once, as the last time" "2 10 2; 4 30 1.5; " "$(rows loss)"
check_same "so do validations" "4 30 0.5; " "$(rows top1)"
check_same "and a line that is being written is no error" "" "$(cat "$T/err")"
{
	start 0
	step 10 2 80 10 8 2
	val 12 2.4 0.2
} | made going
curve -k "$T/going"
check_same "after the last line steps take as long" "2.4 12 0.2; " "$(rows top1)"
{
	start 0
	val 5 1 0.2
} | made early
curve -k "$T/early"
check_same "before the first nobody knows" "1  0.2; " "$(rows top1)"
check_exit "and the picture has a gap there" 0 vt-eval --curve="$T/early.svg" -k "$T/early"

# ---- means ----

for i in 1 2 3; do
	{
		start 0
		step 10 2 80 $((10 * i)) 8 "$i"
		val 10 2 "0.$i"
		step 20 4 160 $((10 * i)) 8 "$((i * i))"
		val 20 4 "0.$((2 * i))"
	} | made "m$i"
done
curve -k "x=$T/m1,$T/m2,$T/m3" -k "y=$T/m[12]" -k "$T/m3" -k "x y=$T/m1" -k "x y=$T/m2"
# of_curve NAME SERIES: epoch, seconds, value, error, runs, with 4 digits
of_curve() {
	awk -F '\t' -v c="$1" -v s="$2" '$1 == c && $2 == s {
		printf "%g %g %.4f %s %d; ", $3, $4, $5, $6 == "" ? "-" : sprintf("%.4f", $6), $7 }' "$T/t.tsv"
}
# The deviation of 1, 2, 3 is 1, that of 1, 4, 9 is sqrt(49/3).
check_same "a mean of three and its standard error" "2 20 2.0000 0.5774 3; 4 40 4.6667 2.3333 3; " "$(of_curve x loss)"
check_same "of accuracies, too" "2 20 0.2000 0.0577 3; 4 40 0.4000 0.1155 3; " "$(of_curve x top1)"
check_same "a pattern stands for the runs it finds" "2 15 1.5000 0.5000 2; 4 30 2.5000 1.5000 2; " "$(of_curve y loss)"
check_same "and so does a name that is given twice" "$(of_curve y loss)" "$(of_curve 'x y' loss)"
check_same "a run beside them has its folder's name" "2 30 3.0000 - 1; 4 60 9.0000 - 1; " "$(of_curve m3 loss)"
# m1 never reaches 25 %, m2 at its second validation, m3 at its first.
curve --curve-target=25 -k "x=$T/m1,$T/m2,$T/m3" -k "$T/m1"
check_same "a target: the runs that reach it, and when" "3 35 0.25 0" "$(awk -F '\t' '$1 == "x" && $2 == "reached" {
	print $3, $4, $5, $7 - 2 }' "$T/t.tsv")"
check_same "and of a run that does not, no time" "m1 reached   0.25 0" "$(awk -F '\t' '$1 == "m1" && $2 == "reached" {
	print $1, $2, $3, $4, $5, $7 }' "$T/t.tsv")"
check_exit "a target needs curves" 2 vt-eval --curve-target=25 -k "$T/m1"
check_says "which it names" '--curve-target is for .*--curve'
# Folds: another number of samples, so other epochs.
{
	start 0
	step 10 2.1 80 10 8 2
	val 10 2.1 0.1
	step 20 4.2 160 10 8 4
	val 20 4.2 0.3
} | made fold
curve -k "x=$T/m1,$T/fold"
check_same "between points lies a line, and beyond the ends what is near" \
	"2 10 1.5000 0.5000 2; 4 $(echo 'scale=9; (20 + 10 + 10 * 1.9 / 2.1) / 2' | bc | awk '{ printf "%g", $1 }') $(awk 'BEGIN {
		b = 2 + 2 * 1.9 / 2.1; printf "%.4f %.4f", (1 + b) / 2, (b - 1) / 2 }') 2; " "$(of_curve x loss)"
curve -k "x=$T/fold,$T/m1"
check_same "the end of a run that is a little shorter is in the mean" "2.1 4.2 " \
	"$(of_curve x top1 | awk -v RS='; ' '{ printf "%s ", $1 }')"
curve -k "x=$T/m1,$T/one,$T/going"
check_same "it ends where the first of them ends" "2 " "$(of_curve x loss | awk -v RS='; ' '$1 { printf "%s ", $1 }')"
check "which is told" grep -q 'x: the mean of the loss covers epochs 2 to 2; .*/going/log.jsonl ends first' "$T/err"

# ---- a real run, killed and resumed ----

"$MAKESET" "$T/train" 40 4 40 32 1
"$MAKESET" "$T/val" 16 4 40 32 2
small_net 4 >"$T/net.net"
stages "0 0 4 0 4 2 24 4 0.02 0 0" "1 4 8 0 8 2 16 4 0.02 0 0" >"$T/s.tsv"
train() {
	run=$1
	shift
	vt-train -q -i "$T/train" --val "$T/val" -m "$T/net.net" --schedule="$T/s.tsv" -o "$T/$run" --device=ref -j1 --log-every=3 "$@" >/dev/null
}
train whole
train halves --save-steps=7 --stop-after=0.001s
train halves --save-steps=7 &
pid=$!
for i in $(seq 400); do
	grep -q '"step":24,' "$T/halves/log.jsonl" && break
	sleep 0.02
done
kill -9 "$(run_pid $pid)" 2>/dev/null
wait $pid 2>/dev/null
train halves --save-steps=7
curve -k "$T/whole" -k "$T/halves"
log=$T/whole/log.jsonl
check_same "all of the log's losses" "$(jq -r 'select(.type == "step") | "\(.epoch) \(.loss)"' "$log" | awk '{ printf "%.9g %.9g; ", $1, $2 }')" \
	"$(awk -F '\t' '$1 == "whole" && $2 == "loss" { printf "%.9g %.9g; ", $3, $5 }' "$T/t.tsv")"
check_same "and accuracies" "$(jq -r 'select(.type == "validation") | "\(.epoch) \(.top1)"' "$log" | awk '{ printf "%.9g %.9g; ", $1, $2 }')" \
	"$(awk -F '\t' '$1 == "whole" && $2 == "top1" { printf "%.9g %.9g; ", $3, $5 }' "$T/t.tsv")"
check_same "its last second is the sum" "$(jq -s '[.[] | select(.type == "step").seconds] | add' "$log" | awk '{ printf "%.6f", $1 }')" \
	"$(awk -F '\t' '$1 == "whole" && $2 == "loss" { s = $4 } END { printf "%.6f", s }' "$T/t.tsv")"
check_same "the cells of its stages" "4x2x24 8x2x16" "$(awk -F '\t' '$1 == "whole" && $2 == "loss" { print $8 }' "$T/t.tsv" | uniq | tr '\n' ' ' | sed 's/ $//')"
accuracies() {
	awk -F '\t' -v c="$1" '$1 == c && $2 == "top1" { print $3, $5 }' "$T/t.tsv"
}
check_same "killed and resumed: the same accuracies, each once" "$(accuracies whole)" "$(accuracies halves)"
check_same "every epoch comes after the one before, and every second" "" "$(awk -F '\t' '
	$1 $2 == last && ($3 <= e || $4 <= s) { print } { last = $1 $2; e = $3; s = $4 }' "$T/t.tsv")"

# ---- pictures ----

if built cairo; then
	for kind in png svg pdf; do
		check_exit "a picture: $kind" 0 vt-eval --curve="$T/a.$kind" --curve="$T/b.$kind" -k "all=$T/m1,$T/m2" -k "$T/whole" -k "$T/one"
		check "the same bytes again" cmp "$T/a.$kind" "$T/b.$kind"
	done
	for text in all whole one 'Training loss' 'Validation top-1, %' epoch 'seconds of training' 'all: mean of 2 runs; shaded: the standard error of the mean' \
		'Cells, batch x frames x crop' 4x2x24 8x2x16 '8x4x32 +1'; do
		check "it says $text" grep -qxF "$text" "$T/a.svg"
	done
	check_exit "a picture with a target" 0 vt-eval --curve="$T/target.svg" --curve-target=15 -k "all=$T/m1,$T/m2" -k "$T/m3"
	for text in '20, 2 of 2 runs' '3, 2 of 2 runs' 30 2; do
		check "it says $text" grep -qxF "$text" "$T/target.svg"
	done
	sed 's/"top1"/"map":0.5,"top1"/' "$T/one/log.jsonl" | made sets
	vt-eval --curve="$T/sets.svg" --curve="$T/t.tsv" -k "$T/sets"
	check "of sets of classes mean average precision" grep -qx 'Validation mAP, %' "$T/sets.svg"
	check_same "which is in the table, too" "3 20 0.5; 4 30 0.5; 5 50 0.5; " "$(rows map)"
	awk 'BEGIN { for (i = 1; i <= 3000; i++) printf "{\"clips\":%d,\"clips_per_s\":1,\"epoch\":%g,\"loss\":%g,\"seconds\":8,\"step\":%d,\"type\":\"step\"}\n",
		8 * i, i / 100, 1 / i, i }' | made long
	check_exit "a long one, without validation" 0 vt-eval --curve="$T/long.svg" -k "$T/long"
	check "is in hours" grep -qx 'hours of training' "$T/long.svg"
	check_exit "and is one panel" 1 grep -q Validation "$T/long.svg"
	check_exit "to standard output" 0 vt-eval --curve=- -k "$T/one"
	check_exit "another kind of file" 2 vt-eval --curve="$T/a.jpg" -k "$T/one"
	check_says "says which there are" 'wanted a name that ends with .png, .svg or .pdf'
	# The command as it is built with CAIRO=no: the other folder before the rest.
	eval "set -- $(cat "$BUILD/flags")"
	cc=$1
	shift
	bare=vt-eval
	if "$cc" "$@" -c -o "$T/without.o" lib/draw/without/plot.c 2>"$T/cc.err" &&
		"$cc" -o "$T/vt-bare" "$BUILD/cmd/vt-eval.o" "$T/without.o" "$BUILD/libvt.a" "$@" 2>>"$T/cc.err"; then
		bare=$T/vt-bare
	else
		not_ok "vt-eval is linked without cairo"
		diag "$(tail -3 "$T/cc.err")"
	fi
	set --
else
	skip "pictures" "built without cairo"
	bare=vt-eval
fi
check_exit "a picture without cairo" 2 "$bare" --curve="$T/no.tsv" --curve="$T/no.png" -k "$T/one"
check_says "says what to install" 'no.png: this build has no cairo, .*libcairo2-dev .*CAIRO=yes'
check "before any work" test ! -e "$T/no.tsv" -a ! -e "$T/no.png"
check_exit "a table is made without it" 0 "$bare" --curve="$T/t.tsv" -k "$T/one"

# ---- what is refused ----

# broken LINE STATUS REGEX WHAT: line 2 of a log
broken() {
	{ start 0; echo "$1"; step 10 2 80 10 8 2; } | made broken
	check_exit "$4" "$2" vt-eval --curve="$T/no.tsv" -k "$T/broken"
	check_says "is told with file and line" "broken/log.jsonl:2: $3"
	check_same "once" 1 "$(wc -l <"$T/err")"
}
broken '{"step":' 4 'not valid JSON' "a line that is cut"
broken '' 4 'not valid JSON' "an empty line"
broken '[1]' 4 'no type' "one that is no object"
broken "$(step 5 1 40 5 8 '"low"')" 4 'not a number: loss' "a loss that is no number"
broken "$(step 5 1 40 null 8 1)" 4 'not a number: seconds' "seconds that are none"
broken "$(step 5 1 40 5 8 1 | sed 's/"epoch":1,//')" 4 'no epoch' "no epoch"
broken "$(step -1 1 40 5 8 1)" 4 'no step' "a step below 0"
check "and nothing is written" test ! -e "$T/no.tsv"
mkdir "$T/odd"
cp "$T/one/log.jsonl" "$T/odd"
echo '#stage' >"$T/odd/schedule.tsv"
check_exit "a schedule that is none" 4 vt-eval --curve="$T/no.tsv" -k "$T/odd"
check_exit "no such run" 1 vt-eval --curve="$T/no.tsv" -k "$T/nowhere"
check_says "is told" 'nowhere: no such run'
check_exit "a folder without a log" 1 vt-eval --curve="$T/no.tsv" -k "$T/train"
start 0 | made empty
check_exit "no step at all" 1 vt-eval --curve="$T/no.tsv" -k "$T/empty"
check_says "says so" 'nothing to draw: no run has a step yet'
check_exit "a run twice in a mean" 2 vt-eval --curve="$T/no.tsv" -k "x=$T/one,$T/one"
check_exit "no run between two commas" 2 vt-eval --curve="$T/no.tsv" -k "x=$T/one,,$T/m1"
check_exit "without a run" 2 vt-eval --curve="$T/no.tsv"
check_exit "with videos" 2 vt-eval --curve="$T/no.tsv" -k "$T/one" clip.mp4
check_exit "with a dataset" 2 vt-eval --curve="$T/no.tsv" -k "$T/one" -i "$T/train"
check_exit "with -0" 2 vt-eval --curve="$T/no.tsv" -k "$T/one" -0
check_says "names it" '--null is for predictions, not for --curve'
check_exit "a folder that is not there" 1 vt-eval --curve="$T/no/where.tsv" -k "$T/one"
if have_mpi; then
	check_exit "on several ranks" 2 mpirun -np 2 vt-eval --curve="$T/no.tsv" -k "$T/one"
	check_says "once" 'for one process, not for 2 ranks'
fi
check "nothing of these was written" test ! -e "$T/no.tsv"
plan
