#!/bin/sh
# vt-eval --curve draws the progress of runs as a table and as a picture: of
# made-up logs with known values, and of a run that was killed and resumed.
# tests/run: weight 7
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

# step STEP EPOCH CLIPS SECONDS RATE LOSS, val STEP EPOCH TOP1 [LOSS], start STEP:
# print lines of a log.
step() {
	echo "{\"clips\":$3,\"clips_per_s\":$5,\"epoch\":$2,\"loss\":$6,\"seconds\":$4,\"step\":$1,\"type\":\"step\"}"
}
val() {
	echo "{\"epoch\":$2,${4:+\"loss\":$4,}\"step\":$1,\"top1\":$3,\"type\":\"validation\"}"
}
start() {
	echo "{\"step\":$1,\"time\":\"2026-01-01T00:00:00Z\",\"type\":\"start\"}"
}
# made DIR: make a run whose log is standard input.
made() {
	mkdir -p "$T/$1"
	cat >"$T/$1/log.jsonl"
}
# rows SERIES [COLUMNS]: print these cells of the table, in one line.
rows() {
	awk -F '\t' -v s="$1" -v c="${2:-3,4,5}" 'BEGIN { n = split(c, f, ",") }
		$2 == s { for (i = 1; i <= n; i++) printf "%s%s", $f[i], i < n ? " " : "; " }' "$T/t.tsv"
}
# curve ARGUMENT...: write the table.
curve() {
	vt-eval --curve="$T/t.tsv" "$@" 2>"$T/err" || diag "$(cat "$T/err")"
}

# ---- one run ----

# 8 clips a step and 40 samples. Log lines cover 10, 10 and 5 steps, at 1, 2 and
# 4 s a step.
{
	start 0
	step 10 2 80 10 8 2
	val 15 3 0.25 1.75
	step 20 4 160 20 4 1.5
	val 20 4 0.5 1.625
	step 25 5 200 20 2 null
	val 25 5 0.75
	echo '{"status":0,"step":25,"type":"end"}'
} | made one
curve -k "$T/one"
check_same "the table has its columns" \
	"#curve series epoch seconds value error runs cells" "$(head -1 "$T/t.tsv" | tr '\t' ' ')"
check_same "the table has losses over epochs and seconds" "2 10 2; 4 30 1.5; 5 50 ; " "$(rows loss)"
check_same "a validation between two log lines has interpolated seconds" \
	"3 20 0.25; 4 30 0.5; 5 50 0.75; " "$(rows top1)"
check_same "the table has validation losses" "3 20 1.75; 4 30 1.625; " "$(rows val_loss)"
check_same "a single run has no error, and the name of its folder" \
	"one  1; " "$(rows loss 1,6,7 | grep -o '^[^;]*; ')"
check_same "without a schedule, the table has no cells" "" "$(rows loss 8 | tr -d '; ')"
cp "$T/t.tsv" "$T/one.tsv"
curve -k "$T/one/log.jsonl"
check_same "a log file gives the same table as its run's folder" \
	"$(cut -f2- "$T/one.tsv")" "$(cut -f2- "$T/t.tsv")"

# A stage with one cell and one with two.
stages "0 0 2 0 8 4 32 4 0.1 0 0" "1 2 5 0 16 4 22 4 0.1 0 0" "1 2 5 1 8 4 32 4 0.1 0 0" >"$T/one/schedule.tsv"
curve -k "$T/one"
check_same "with a schedule, each point has its cells" \
	"8x4x32; 16x4x22,8x4x32; 16x4x22,8x4x32; " "$(rows loss 8)"

# ---- killed, resumed, repeated ----

# Saved after step 14 and killed. Steps from 15 are repeated. The seconds of
# steps 11 to 14 were lost with their log line; the clips of the next line took
# 0.5 s each.
{
	start 0
	step 10 2 80 10 8 2
	val 10 2 0.2
	start 14
	step 20 4 160 24 2 1.5
	val 20 4 0.4
} | made killed
curve -k "$T/killed"
check_same "steps without a log line take as long as those of the next line" "2 10 2; 4 50 1.5; " "$(rows loss)"
check_same "with a lost log line, validations keep their places" "2 10 0.2; 4 50 0.4; " "$(rows top1)"
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
check_same "repeated steps count once, with their last values" "2 10 2; 4 30 1.5; " "$(rows loss)"
check_same "repeated validations count once" "4 30 0.5; " "$(rows top1)"
check_same "an incomplete last line is no error" "" "$(cat "$T/err")"
{
	start 0
	step 10 2 80 10 8 2
	val 12 2.4 0.2
} | made going
curve -k "$T/going"
check_same "after the last log line, steps take as long as before" "2.4 12 0.2; " "$(rows top1)"
{
	start 0
	val 5 1 0.2
} | made early
curve -k "$T/early"
check_same "before the first log line, the seconds are unknown" "1  0.2; " "$(rows top1)"
check_exit "the picture omits points with unknown seconds" 0 vt-eval --curve="$T/early.svg" -k "$T/early"

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
# of_curve NAME SERIES: print epoch, seconds, value, error and runs, with 4
# digits.
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
check_message "a target needs curves" 2 'does not apply to a packed dataset .wanted --curve' vt-eval --curve-target=25 -k "$T/m1"
# Folds: another number of samples, so other epochs.
{
	start 0
	step 10 2.1 80 10 8 2
	val 10 2.1 0.1
	step 20 4.2 160 10 8 4
	val 20 4.2 0.3
} | made fold
curve -k "x=$T/m1,$T/fold"
check_same "values between points are interpolated, and those beyond an end are the nearest" \
	"2 10 1.5000 0.5000 2; 4 $(echo 'scale=9; (20 + 10 + 10 * 1.9 / 2.1) / 2' | bc | awk '{ printf "%g", $1 }') $(awk 'BEGIN {
		b = 2 + 2 * 1.9 / 2.1; printf "%.4f %.4f", (1 + b) / 2, (b - 1) / 2 }') 2; " "$(of_curve x loss)"
curve -k "x=$T/fold,$T/m1"
check_same "the end of a slightly shorter run is in the mean" "2.1 4.2 " \
	"$(of_curve x top1 | awk -v RS='; ' '{ printf "%s ", $1 }')"
curve -k "x=$T/m1,$T/one,$T/going"
check_same "it ends where the first of them ends" "2 " "$(of_curve x loss | awk -v RS='; ' '$1 { printf "%s ", $1 }')"
check "which is told" grep -q 'x: the mean of the loss covers epochs 2 to 2; .*/going/log.jsonl ends first' "$T/err"

# ---- over the batch ----

# The last stage has the batch 8 or 16; the rate warms up to 0.2.
for i in 1 2 3; do
	stages "0 0 2 0 4 4 32 4 0.1@0..0.2@1,0.2 0 0" "1 2 5 0 $((i == 3 ? 8 : 16)) 4 32 4 0.05 0 0" >"$T/m$i/schedule.tsv"
done
curve --curve-over=batch -k "x=$T/m1,$T/m2,$T/m3" -k "$T/m1"
check_same "over the batch: last accuracies, a mean for each batch" \
	"x 8 0.2 20 60 top1 0.6000 - 1; x 16 0.2 20 30 top1 0.3000 0.1000 2; m1 16 0.2 20 20 top1 0.2000 - 1; " \
	"$(awk -F '\t' '!/^#/ { printf "%s %d %g %g %g %s %.4f %s %d; ", $1, $2, $3, $4, $5, $6, $7,
		$8 == "" ? "-" : sprintf("%.4f", $8), $9 }' "$T/t.tsv")"
check_message "over the batch: a run without a schedule ends with 1" 1 'going/log.jsonl: no schedule.tsv beside it' \
	vt-eval --curve="$T/no.tsv" --curve-over=batch -k "x=$T/m1,$T/going"
cp -r "$T/m1" "$T/unseen"
grep -v validation "$T/m1/log.jsonl" >"$T/unseen/log.jsonl"
check_exit "over the batch: a run without a validation ends with 1" 1 \
	vt-eval --curve="$T/no.tsv" --curve-over=batch -k "$T/unseen"
check_says "over the batch: the message says what to do" 'unseen/log.jsonl: no validation yet; .*--val=DIR'
check_exit "over the batch, a target is refused" 2 vt-eval --curve="$T/no.tsv" --curve-over=batch --curve-target=25 -k "$T/m1"
check_message "--curve-over needs curves" 2 'does not apply to a packed dataset .wanted --curve' vt-eval --curve-over=batch -k "$T/m1"
if built cairo; then
	vt-eval --curve="$T/batch.svg" --curve-over=batch -k "x=$T/m1,$T/m2,$T/m3" -k "$T/m1"
	for text in 'Validation top-1 after training, %' 'batch, clips' 'Means of 1 to 2 runs; shaded: the standard error of the mean' x m1; do
		check "the picture over the batch contains: $text" grep -qxF "$text" "$T/batch.svg"
	done
fi
rm "$T"/m?/schedule.tsv

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
check_same "a real run: the table has all losses of the log" \
	"$(jq -r 'select(.type == "step") | "\(.epoch) \(.loss)"' "$log" | awk '{ printf "%.9g %.9g; ", $1, $2 }')" \
	"$(awk -F '\t' '$1 == "whole" && $2 == "loss" { printf "%.9g %.9g; ", $3, $5 }' "$T/t.tsv")"
check_same "a real run: the table has all accuracies of the log" \
	"$(jq -r 'select(.type == "validation") | "\(.epoch) \(.top1)"' "$log" | awk '{ printf "%.9g %.9g; ", $1, $2 }')" \
	"$(awk -F '\t' '$1 == "whole" && $2 == "top1" { printf "%.9g %.9g; ", $3, $5 }' "$T/t.tsv")"
check_same "a real run: its last second is the sum of the log" \
	"$(jq -s '[.[] | select(.type == "step").seconds] | add' "$log" | awk '{ printf "%.6f", $1 }')" \
	"$(awk -F '\t' '$1 == "whole" && $2 == "loss" { s = $4 } END { printf "%.6f", s }' "$T/t.tsv")"
check_same "a real run: the table has the cells of its stages" \
	"4x2x24 8x2x16" "$(awk -F '\t' '$1 == "whole" && $2 == "loss" { print $8 }' "$T/t.tsv" | uniq | tr '\n' ' ' | sed 's/ $//')"
accuracies() {
	awk -F '\t' -v c="$1" '$1 == c && $2 == "top1" { print $3, $5 }' "$T/t.tsv"
}
check_same "a run that was killed and resumed has each accuracy once" \
	"$(accuracies whole)" "$(accuracies halves)"
check_same "epochs and seconds increase in every series" "" "$(awk -F '\t' '
	$1 $2 == last && ($3 <= e || $4 <= s) { print } { last = $1 $2; e = $3; s = $4 }' "$T/t.tsv")"

# ---- pictures ----

if built cairo; then
	for kind in png svg pdf; do
		for name in a b; do
			check_exit "a $kind picture is drawn" 0 \
				vt-eval --curve="$T/$name.$kind" -k "all=$T/m1,$T/m2" -k "$T/whole" -k "$T/one"
		done
		check "a $kind picture has the same bytes again" cmp "$T/a.$kind" "$T/b.$kind"
	done
	for text in all whole one 'Training loss; dots: validation loss' 'Validation top-1, %' epoch 'seconds of training' 'all: mean of 2 runs; shaded: the standard error of the mean' \
		'Cells, batch x frames x crop' 4x2x24 8x2x16 '8x4x32 +1'; do
		check "the picture contains: $text" grep -qxF "$text" "$T/a.svg"
	done
	check_exit "a picture with a target" 0 vt-eval --curve="$T/target.svg" --curve-target=15 -k "all=$T/m1,$T/m2" -k "$T/m3"
	for text in '20, 2 of 2 runs' '3, 2 of 2 runs' 30 2; do
		check "it says $text" grep -qxF "$text" "$T/target.svg"
	done
	sed 's/"top1"/"map":0.5,"top1"/' "$T/one/log.jsonl" | made sets
	vt-eval --curve="$T/sets.svg" --curve="$T/t.tsv" -k "$T/sets"
	check "for sets of classes, the picture shows mean average precision" \
		grep -qx 'Validation mAP, %' "$T/sets.svg"
	check_same "for sets of classes, the table has mean average precision" \
		"3 20 0.5; 4 30 0.5; 5 50 0.5; " "$(rows map)"
	awk 'BEGIN { for (i = 1; i <= 3000; i++) printf "{\"clips\":%d,\"clips_per_s\":1,\"epoch\":%g,\"loss\":%g,\"seconds\":8,\"step\":%d,\"type\":\"step\"}\n",
		8 * i, i / 100, 1 / i, i }' | made long
	check_exit "a long run without validation is drawn" 0 vt-eval --curve="$T/long.svg" -k "$T/long"
	check "the picture of a long run has hours" grep -qx 'hours of training' "$T/long.svg"
	check_exit "without validations, the picture has one panel" 1 grep -q Validation "$T/long.svg"
	check_exit "a picture on standard output" 0 vt-eval --curve=- -k "$T/one"
	check_message "an unknown picture format ends with 2" 2 'wanted a name that ends with .png, .svg or .pdf' \
		vt-eval --curve="$T/a.jpg" -k "$T/one"
	# vt-eval as CAIRO=no builds it: lib/draw/without comes before the
	# library.
	eval "set -- $(settings_of "$BUILD")"
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
check_message "a picture without cairo ends with 2" 2 'no.png: this build has no cairo, .*libcairo2-dev .*CAIRO=yes' \
	"$bare" --curve="$T/no.tsv" --curve="$T/no.png" -k "$T/one"
check "without cairo nothing is written" test ! -e "$T/no.tsv" -a ! -e "$T/no.png"
check_exit "a table is made without cairo" 0 "$bare" --curve="$T/t.tsv" -k "$T/one"

# ---- refusals ----

# broken LINE STATUS REGEX WHAT: check that a log whose second line is LINE is
# refused.
broken() {
	{ start 0; echo "$1"; step 10 2 80 10 8 2; } | made broken
	check_message "$4" "$2" "broken/log.jsonl:2: $3" vt-eval --curve="$T/no.tsv" -k "$T/broken"
	check_same "$4: there is one message" 1 "$(wc -l <"$T/err")"
}
broken '{"step":' 4 'not valid JSON' "a truncated line"
broken '' 4 'not valid JSON' "an empty line"
broken '[1]' 4 'no type' "one that is no object"
broken "$(step 5 1 40 5 8 '"low"')" 4 'not a number: loss' "a loss that is no number"
broken "$(step 5 1 40 null 8 1)" 4 'not a number: seconds' "seconds that are none"
broken "$(step 5 1 40 5 8 1 | sed 's/"epoch":1,//')" 4 'no epoch' "no epoch"
broken "$(step -1 1 40 5 8 1)" 4 'no step' "a step below 0"
check "refused logs write no table" test ! -e "$T/no.tsv"
mkdir "$T/odd"
cp "$T/one/log.jsonl" "$T/odd"
echo '#stage' >"$T/odd/schedule.tsv"
check_exit "a malformed schedule of a run ends with 4" 4 vt-eval --curve="$T/no.tsv" -k "$T/odd"
check_message "a missing run ends with 1" 1 'nowhere: no such run' vt-eval --curve="$T/no.tsv" -k "$T/nowhere"
check_exit "a folder without a log ends with 1" 1 vt-eval --curve="$T/no.tsv" -k "$T/train"
start 0 | made empty
check_message "no step at all" 1 'nothing to draw: no run has a step yet' vt-eval --curve="$T/no.tsv" -k "$T/empty"
check_exit "a run twice in a mean" 2 vt-eval --curve="$T/no.tsv" -k "x=$T/one,$T/one"
check_exit "no run between two commas" 2 vt-eval --curve="$T/no.tsv" -k "x=$T/one,,$T/m1"
check_exit "without a run" 2 vt-eval --curve="$T/no.tsv"
check_exit "with videos" 2 vt-eval --curve="$T/no.tsv" -k "$T/one" clip.mp4
check_exit "with a dataset" 2 vt-eval --curve="$T/no.tsv" -k "$T/one" -i "$T/train"
check_exit "with -0" 2 vt-eval --curve="$T/no.tsv" -k "$T/one" -0
check_says "names it" '--null does not apply to --curve \(wanted videos and streams\)'
check_exit "a folder that is not there" 1 vt-eval --curve="$T/no/where.tsv" -k "$T/one"
if have_mpi; then
	check_message "--curve on several ranks ends with 2" 2 'for one process, not for 2 ranks' \
		mpirun -np 2 vt-eval --curve="$T/no.tsv" -k "$T/one"
fi
check "refused command lines write no table" test ! -e "$T/no.tsv"
plan
