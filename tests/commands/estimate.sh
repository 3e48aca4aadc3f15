#!/bin/sh
# Estimates of a run's time are measured by -n --time and at the start of a run.
# Measuring changes no weight.
# tests/run: weight 8
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
"$MAKESET" "$T/train" 40 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2 || skip_all "no test set"

small_net 4 >"$T/net.net"
# Two shapes: 8 epochs of 10 steps each, then 4 epochs of 5 steps.
stages '0 0 8 0 4 2 16 4 0.01 0 0' '1 8 12 0 8 2 20 4 0.01 0 0' >"$T/s.tsv"
# One shape and many steps. The three measured microbatches take less than a
# hundredth of the run.
stages '0 0 40 0 4 2 16 4 0.01 0 0' >"$T/long.tsv"
# train [OPTION]...: run vt-train on the reference back end.
train() {
	vt-train -i "$T/train" -m "$T/net.net" --device ref -j 1 "$@"
}

time_of() {
	sed -n 's/^# time  *//p' "$T/out"
}

# ---- measured ----

check_exit "-n --time measures" 0 train -n --time --schedule "$T/s.tsv" --val "$T/val"
check "-n --time multiplies the times that it measures" expr "$(time_of)" : \
	'.*: [0-9.]* [mins]* for 100 steps and [0-9.]* [mins]* for 12 validations$'
check_same "-n --time prints the time of a step for each stage" 2 "$(grep -c ' m*s a step$' "$T/out")"
check_exit "-n --time with --precise-bn" 0 train -n --time --schedule "$T/s.tsv" --precise-bn 16
check "the estimate has one measurement of precise BN" grep -q ' for precise BN$' "$T/out"
check_message "--time without -n ends with 2" 2 "--time without --dry-run" train --time --schedule "$T/s.tsv" -o "$T/none"
check_exit "vt-schedule --check --time measures" 0 \
	vt-schedule --check --time -m "$T/net.net" -i "$T/train" --device ref "$T/s.tsv"
check "vt-schedule --check --time prints the same estimate" \
	grep -q '^# time  .* for 100 steps and .* for precise BN$' "$T/out"
check_exit "vt-schedule --time without --check ends with 2" 2 vt-schedule --time
if have_mpi; then
	check_exit "-n --time on two ranks" 0 \
		mpirun -np 2 "$BUILD/vt-train" -n --time -i "$T/train" -m "$T/net.net" --device ref -j 1 --schedule "$T/long.tsv" --deterministic fast
	check "two ranks time their part of a microbatch" \
		grep -q '^# time  .* for 400 steps and ' "$T/out"
fi

# ---- a run ----

check_exit "a run of many steps" 0 train --schedule "$T/long.tsv" -o "$T/run" --save-steps 200
check_says "a run prints an estimate at its start" "note: (about )?[0-9.]+ .* for 400 steps and "
check_exit "a run of many steps with -q" 0 train --schedule "$T/long.tsv" -o "$T/quiet" -q
check_same "with -q nothing is printed" "" "$(cat "$T/err")"
check "measuring changes no weight" cmp "$T/run/final.safetensors" "$T/quiet/final.safetensors"
rm "$T/run/final.safetensors" "$T/run/ckpt-0000000400.safetensors"
check_exit "a run that resumes at half" 0 train --schedule "$T/long.tsv" -o "$T/run"
check "a resumed run ends with the same weights" cmp "$T/run/final.safetensors" "$T/quiet/final.safetensors"
rm "$T/run/final.safetensors" "$T/run/ckpt-0000000400.safetensors"
check_exit "-n of a run that is half done" 0 train -n --schedule "$T/long.tsv" -o "$T/run"
check "-n shows how many steps are done" grep -q '^# steps done  *200$' "$T/out"
check_message "-n with another seed than the run's ends with 2" 2 'seed was' \
	train -n --schedule "$T/long.tsv" -o "$T/run" --seed 8
check_exit "-n with --precise-bn=off" 0 train -n --schedule "$T/long.tsv" --precise-bn off
check "-n with --precise-bn=off measures no statistics" sh -c "! grep 'precise BN' '$T/out'"
check_exit "a run of few steps" 0 train --schedule "$T/s.tsv" -o "$T/short"
check_same "a run of few steps does not measure" "" "$(grep ' for [0-9]* steps' "$T/err")"
check_exit "-n with --loader-threads=auto" 0 train -n --schedule "$T/s.tsv" --loader-threads=auto
check "-n prints the number of loader threads" grep -q '^# loader threads  *[1-9][0-9]*$' "$T/out"
check_exit "-n --time of a finished run" 0 train -n --time --schedule "$T/s.tsv" -o "$T/short"
check_same "-n --time of a finished run prints that no time remains" "0 s: all steps are done" "$(time_of)"

plan
