#!/bin/sh
# A signal stops vt-train within 2 s in a validation, in precise BN and while it
# sets up. Stopped and resumed runs have the weights, the validations and the
# best checkpoint of one that never stopped, on 1, 2 and 3 ranks.
# tests/run: weight 20
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
"$MAKESET" "$T/train" 12 4 40 32 1 && "$MAKESET" "$T/val" 90 4 40 32 2 || skip_all "no test set"
small_net 8 8 >"$T/net.net"
# Two steps an epoch; measurement and validation take far longer than a step.
printf '#stage\tepoch_begin\tepoch_end\tcycle\tbatch\tframes\tcrop\tbn\tlr\tstride_min\tstride_max\n0\t0\t3\t0\t6\t2\t32\t2\t0.05\t0\t0\n' >"$T/s.tsv"

# train RUN [OPTION]...: train on $np ranks, with an average of the weights.
train() {
	run=$1
	shift
	on_ranks "$BUILD/vt-train" -i "$T/train" --val "$T/val" --val-crop 96 -m "$T/net.net" --schedule "$T/s.tsv" \
		-o "$T/$run" --device ref -j 1 --seed 7 -qq --log-every 1 --precise-bn 240 --ema 0.9 --use-ema "$@"
}
# results RUN: print what must not differ.
results() {
	jq -c 'select(.type == "validation" or .type == "step") | [.type, .step, .epoch, .loss, .top1, .top5, .best]' \
		"$T/$1/log.jsonl"
	md5sum <"$T/$1/final.safetensors"
	md5sum <"$T/$1/best.safetensors"
}
# due RUN: print vt.due of the newest checkpoint, 0 if it has none.
due() {
	tail -c +9 "$(ls "$T/$1"/ckpt-* | tail -n 1)" | head -c 20000 | grep -ao '"vt.due":"[0-9]"' || echo none
}
# stopped RUN SIGNAL DELAY: train, and send SIGNAL to all ranks DELAY after the
# first step of this start, or to the last rank alone if SIGNAL is LAST. Print the
# exit status and the seconds from the signal to the end.
stopped() {
	lines=$(cat "$T/$1/log.jsonl" 2>/dev/null | grep -c '"type":"step"')
	train "$1" >/dev/null 2>"$T/err" &
	child=$!
	await sh -c "[ \$(grep -c '\"type\":\"step\"' '$T/$1/log.jsonl') -gt $lines ] || ! kill -0 $child"
	sleep "$3"
	ranks=$(for p in $child $(descendants $child); do
		case $(readlink "/proc/$p/exe") in */vt-train) echo "$p" ;; esac
	done)
	began=$(date +%s%N)
	# shellcheck disable=SC2086
	case $2 in
	LAST) kill -USR1 "${ranks##*
}" 2>/dev/null ;;
	*) kill "-$2" $ranks 2>/dev/null ;;
	esac
	status=0
	wait $child || status=$?
	due "$1" >>"$T/dues"
	took=$((($(date +%s%N) - began) / 1000000))
	[ "$status" != 75 ] || [ $took -lt 2000 ] || diag "$1: $2 after $3 s: stopped after $took ms" >>"$T/slow"
}
: >"$T/dues"
check "a run that never stops" train whole
results whole >"$T/wanted"
for np in 1 2 3; do
	if [ $np -gt 1 ] && ! have_mpi; then
		skip "$np ranks stop and resume" "no mpirun, or built without MPI"
		continue
	fi
	turn=0 status=75
	while [ $status = 75 ] && [ $turn -lt 40 ]; do
		# Steps take 20 ms, each measurement and the validation half a second.
		case $((turn % 4)) in
		0) stopped np$np TERM 0.1 ;;
		1) stopped np$np USR1 0.5 ;;
		2) stopped np$np LAST 0.8 ;;
		3) stopped np$np TERM 3 ;;
		esac
		turn=$((turn + 1))
	done
	check_same "$np ranks: the run ends" 0 $status
	check "$np ranks: it stopped" test $turn -gt 1
	results np$np | diff "$T/wanted" - >"$T/diff" || diag "$(head -5 "$T/diff")"
	check "$np ranks: the same weights, validations and best checkpoint" test ! -s "$T/diff"
done
check "stops came in validations" grep -q '"vt.due":"[1-3]"' "$T/dues"
diag "$(sort "$T/dues" | uniq -c)"

# Each start makes a validation and a step, so that the run ends.
np=1 turn=1
while train after --stop-after 0.001s >/dev/null 2>"$T/err"; [ $? = 75 ] && [ $turn -lt 12 ]; do
	turn=$((turn + 1))
done
check_same "--stop-after ends the validation of the last step, too" 7 $turn
results after | diff "$T/wanted" - >"$T/diff" || diag "$(head -5 "$T/diff")"
check "--stop-after: the same weights, validations and best checkpoint" test ! -s "$T/diff"

# ---- while setting up ----

# The start waits for its schedule.
for np in 1 2; do
	if [ $np -gt 1 ] && ! have_mpi; then
		skip "2 ranks are stopped while they set up" "no mpirun, or built without MPI"
		continue
	fi
	mkfifo "$T/fifo$np"
	on_ranks "$BUILD/vt-train" -i "$T/train" -m "$T/net.net" --schedule - -o "$T/new" <"$T/fifo$np" >/dev/null 2>"$T/err" &
	child=$!
	exec 3>"$T/fifo$np"
	sleep 1.5
	kill -USR1 "$(run_pid $child)"
	status=0
	wait $child || status=$?
	exec 3>&-
	check_same "$np ranks: a signal while setting up ends with 75" 75 $status
	check_says "$np ranks: it says so" 'note: stopped while setting up: nothing is written'
	check "$np ranks: nothing is written" test ! -e "$T/new"
done
# Setting up has a limit of its own: the schedule comes 3 s late.
if have_mpi; then
	np=2
	check_exit "--step-timeout does not limit setting up" 0 sh -c "(sleep 3; cat '$T/s.tsv') |
		mpirun -np 2 vt-train -i '$T/train' -m '$T/net.net' --schedule - -o '$T/late' --device ref -j 1 -qq \\
			--step-timeout 1s"
else
	skip "--step-timeout does not limit setting up" "no mpirun, or built without MPI"
fi
plan
