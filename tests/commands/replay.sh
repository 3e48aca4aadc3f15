#!/bin/sh
# --replay recomputes a run and compares it with its checkpoints bit for bit,
# the whole run or from one checkpoint to another, at any number of ranks. A
# changed bit is refused or named. The run's files are only read.
# tests/run: weight 10
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 40 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2 || skip_all "no test set"
small_net 8 8 0.3 >"$T/net.net"
stages '0 0 3 0 12 2 16 2 0.01 0 0' '1 3 4 0 8 4 16 2 0.01 0 0' >"$T/s.tsv"
check "a run with validations, sets of options and checkpoints" vt-train -i "$T/train" --val "$T/val" -m "$T/net.net" \
	--schedule - -o "$T/run" --device ref --save-steps 5 --keep 9 --clip-grad 5 --label-smoothing 0.1 -s 3 -q \
	--keep-best none --trace-samples "$T/trace" --stop-after 1000s <"$T/s.tsv"
last=$(vt-train --status "$T/run" | jq .step)
sums() {
	find "$T/run" "$T/trace" -type f -exec md5sum {} + | sort
	find "$T/run" -printf '%p %s %T@ %i\n' | sort
}
before=$(sums)
chmod -R a-w "$T/run"

# steps: print the steps and results of the last replay.
steps() {
	grep -v '^#' "$T/out" | cut -f1,2 | tr '\t\n' '  '
}
check_exit "the whole run is replayed" 0 vt-train --replay "$T/run"
check_same "the replay agrees with every checkpoint" \
	"$(for s in $(seq 5 5 $last) $last; do echo "$s"; done | uniq | sed 's/$/ same/' | tr '\n' ' ')" "$(steps)"
check_exit "--replay-steps=5:15 replays from one checkpoint to another" 0 \
	vt-train --replay="$T/run" --replay-steps=5:15
check_same "--replay-steps=5:15 compares the two checkpoints after step 5" "10 same 15 same " "$(steps)"
check_exit "--replay-steps=10: replays to the end" 0 vt-train --replay "$T/run" --replay-steps 10:
if have_mpi; then
	check_exit "three ranks replay a run of one rank" 0 \
		mpirun -np 3 "$BUILD/vt-train" --replay "$T/run" --replay-steps :10 -j 1
	check_same "three ranks agree with its checkpoints" "5 same 10 same " "$(steps)"
	check_exit "two ranks replay with audits" 0 \
		mpirun -np 2 "$BUILD/vt-train" --replay "$T/run" --replay-steps 5:10 -j 1 --audit 1
else
	skip "three ranks replay a run of one rank" "no MPI"
fi
chmod -R u+w "$T/run"
check_same "replays change no file of the run" "$before" "$(sums)"

# Precise BN before a validation of the average carries over into later steps.
check "a run with precise BN of a moving average" \
	vt-train -i "$T/train" --val "$T/val" -m "$T/net.net" --schedule "$T/s.tsv" \
	-o "$T/measured" --device ref --save-steps 2 --keep 9 -q --precise-bn 24 --val-every 0.5 --ema 0.9 --use-ema
check_exit "the run with precise BN is replayed" 0 vt-train --replay "$T/measured"
check_exit "the run with precise BN is replayed from a checkpoint" 0 \
	vt-train --replay "$T/measured" --replay-steps 4:8

# If a validation fails, the checkpoint says that it is due and has the measured
# statistics.
failing="-m $T/net.net --schedule $T/s.tsv -o $T/due --device ref -q --precise-bn 24 --val-every 0.5 --save-steps 2 --keep 9"
cp -r "$T/val" "$T/hurt"
damage_frames "$T/hurt" 99
# shellcheck disable=SC2086
check_exit "a run whose validation fails ends with 4" 4 vt-train -i "$T/train" --val "$T/hurt" $failing
due="$T/due/$(cut -d' ' -f1 "$T/due/latest")"
check "the last checkpoint says that a validation is due" grep -aq '"vt.due":"[1-3]"' "$due"
cp "$due" "$T/was.due"
check_exit "the run with a due validation is replayed" 0 vt-train --replay "$T/due"
step=$(vt-train --status "$T/due" | jq .step)
check_same "the replay agrees with the checkpoint that has a due validation" "$step same " "$(steps)"
# shellcheck disable=SC2086
check "the run resumes with an intact validation set" vt-train -i "$T/train" --val "$T/val" $failing
check_same "the checkpoint's validation is no longer due" 0 "$(grep -ac '"vt.due"' "$due")"
cp "$T/was.due" "$due"
check_exit "a replay starts from a checkpoint with a due validation" 0 \
	vt-train --replay "$T/due" --replay-steps "$step":
check "the replay from a due validation compares at least 2 checkpoints" test "$(steps | wc -w)" -ge 4

# ---- refusals ----

for steps in " 5:10" "+5:10" "5:+10" "5: 10" "5:-1" 5; do
	check_exit "--replay-steps=\"$steps\" is refused" 2 vt-train --replay "$T/run" --replay-steps="$steps"
done
check_message "--replay-steps from a step without a checkpoint ends with 2" 2 "no checkpoint of step 4 .it has 5, 10, " \
	vt-train --replay "$T/run" --replay-steps 4:10
check_exit "--replay-steps whose end is before its begin ends with 2" 2 \
	vt-train --replay "$T/run" --replay-steps 10:5
check_exit "--replay-steps without --replay ends with 2" 2 vt-train --replay-steps 1:2
check_exit "--replay with --output ends with 2" 2 vt-train --replay "$T/run" --output "$T/other"
check_exit "--replay of a folder that is not a run ends with 2" 2 vt-train --replay "$T/val"
check_message "--replay with another setting ends with 2" 2 "momentum was 0.9 and is 0.5" \
	vt-train --replay "$T/run" --momentum 0.5

# ---- one changed bit ----

ckpt=$T/run/ckpt-0000000010.safetensors
cp "$ckpt" "$T/good"
at=$(($(wc -c <"$ckpt") - 64 - 400))	# in a tensor
byte=$(od -An -tu1 -j $at -N1 "$ckpt")
# shellcheck disable=SC2059
printf "\\$(printf %03o $((byte ^ 4)))" | dd of="$ckpt" bs=1 seek=$at conv=notrunc 2>/dev/null
check_message "a checkpoint with one changed bit is refused as the end" 4 "ckpt-0000000010.safetensors.*hash" \
	vt-train --replay "$T/run" --replay-steps 5:10
check_exit "a checkpoint with one changed bit is refused as the start" 4 \
	vt-train --replay "$T/run" --replay-steps 10:15

# The same fault in a processor: the file's hash fits.
cp "$T/good" "$ckpt"
VT_FLIP_BIT=7:0:2 check_exit "a run with a fault in step 7" 0 "$BUILD/tests/drill/vt-train" -i "$T/train" -m "$T/net.net" \
	--schedule "$T/s.tsv" -o "$T/bad" --device ref --save-steps 5 --keep 9 -q
check_exit "the replay of a run with a fault ends with 4" 4 vt-train --replay "$T/bad"
check_same "the first checkpoint after the fault differs" "5 same 10 differs " "$(steps)"
check_says "the replay of a run with a fault: the message names the checkpoint and a tensor" \
	"ckpt-0000000010.safetensors: [a-z/.0-9]*[a-z] is not what its steps give"
check_exit "later checkpoints agree, starting from the faulty one" 0 \
	vt-train --replay "$T/bad" --replay-steps 10:

plan
