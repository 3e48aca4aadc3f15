#!/bin/sh
# --replay: a run computed again agrees with its checkpoints bit for bit, whole or
# from one to the next, at any number of ranks; a bit that was changed is refused
# or named; the run itself is only read.
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

# steps OUT: the steps and results of a replay
steps() {
	grep -v '^#' "$T/out" | cut -f1,2 | tr '\t\n' '  '
}
check_exit "a replay of the whole run" 0 vt-train --replay "$T/run"
check_same "agrees with every checkpoint" \
	"$(for s in $(seq 5 5 $last) $last; do echo "$s"; done | uniq | sed 's/$/ same/' | tr '\n' ' ')" "$(steps)"
check_exit "one from a checkpoint to the next but one" 0 vt-train --replay="$T/run" --replay-steps=5:15
check_same "compares these" "10 same 15 same " "$(steps)"
check_exit "--replay-steps A: goes to the end" 0 vt-train --replay "$T/run" --replay-steps 10:
if have_mpi; then
	check_exit "by three ranks" 0 mpirun -np 3 "$BUILD/vt-train" --replay "$T/run" --replay-steps :10 -j 1
	check_same "the same" "5 same 10 same " "$(steps)"
	check_exit "with audits" 0 mpirun -np 2 "$BUILD/vt-train" --replay "$T/run" --replay-steps 5:10 -j 1 --audit 1
else
	skip "by three ranks" "no MPI"
fi
chmod -R u+w "$T/run"
check_same "nothing in the run has changed" "$before" "$(sums)"

# What --precise-bn measures before a validation, of the average, goes on into later steps.
check "a run whose statistics are measured" vt-train -i "$T/train" --val "$T/val" -m "$T/net.net" --schedule "$T/s.tsv" \
	-o "$T/measured" --device ref --save-steps 2 --keep 9 -q --precise-bn 24 --val-every 0.5 --ema 0.9 --use-ema
check_exit "a replay of it" 0 vt-train --replay "$T/measured"
check_exit "from a checkpoint on" 0 vt-train --replay "$T/measured" --replay-steps 4:8

# A validation that fails leaves a checkpoint that says so, with what was measured.
failing="-m $T/net.net --schedule $T/s.tsv -o $T/due --device ref -q --precise-bn 24 --val-every 0.5 --save-steps 2 --keep 9"
cp -r "$T/val" "$T/hurt"
shard=$(find "$T/hurt" -name '*-000000.tar')
tar tRf "$shard" | tr -d : | while read -r _ block name; do	# each frame of its samples
	case $name in *.jpg | *.raw | *.png)
		printf 'no picture' | dd of="$shard" bs=1 seek=$(((block + 1) * 512 + 100)) conv=notrunc 2>/dev/null ;;
	esac
done
# shellcheck disable=SC2086
check_exit "a run whose validation fails" 4 vt-train -i "$T/train" --val "$T/hurt" $failing
due="$T/due/$(cut -d' ' -f1 "$T/due/latest")"
check "leaves that it was due" grep -aq '"vt.due":"1"' "$due"
cp "$due" "$T/was.due"
check_exit "a replay ends in its bits" 0 vt-train --replay "$T/due"
step=$(vt-train --status "$T/due" | jq .step)
check_same "and compares them" "$step same " "$(steps)"
# shellcheck disable=SC2086
check "the run goes on with other clips to validate" vt-train -i "$T/train" --val "$T/val" $failing
check_same "and the checkpoint is no longer due" 0 "$(grep -ac '"vt.due"' "$due")"
cp "$T/was.due" "$due"
check_exit "from one that is due, a replay gives the steps after it" 0 vt-train --replay "$T/due" --replay-steps "$step":
check "which are some" test "$(steps | wc -w)" -ge 4

# ---- what is refused ----

check_exit "a step without a checkpoint" 2 vt-train --replay "$T/run" --replay-steps 4:10
check_says "is refused, with those there are" "no checkpoint of step 4 .it has 5, 10, "
check_exit "a stretch that ends before it begins" 2 vt-train --replay "$T/run" --replay-steps 10:5
check_exit "--replay-steps without a run" 2 vt-train --replay-steps 1:2
check_exit "an --output" 2 vt-train --replay "$T/run" --output "$T/other"
check_exit "what is no run" 2 vt-train --replay "$T/val"
check_exit "another recipe" 2 vt-train --replay "$T/run" --momentum 0.5
check_says "is refused" "momentum was 0.9 and is 0.5"

# ---- one bit ----

ckpt=$T/run/ckpt-0000000010.safetensors
cp "$ckpt" "$T/good"
at=$(($(wc -c <"$ckpt") - 64 - 400))	# in a tensor
byte=$(od -An -tu1 -j $at -N1 "$ckpt")
# shellcheck disable=SC2059
printf "\\$(printf %03o $((byte ^ 4)))" | dd of="$ckpt" bs=1 seek=$at conv=notrunc 2>/dev/null
check_exit "a checkpoint with one bit changed is refused as an end" 4 vt-train --replay "$T/run" --replay-steps 5:10
check_says "by name" "ckpt-0000000010.safetensors.*hash"
check_exit "and as a start" 4 vt-train --replay "$T/run" --replay-steps 10:15

# The same bit as a processor would have changed it: the file is whole.
cp "$T/good" "$ckpt"
VT_FLIP_BIT=7:0:2 check_exit "a run with a fault in step 7" 0 "$BUILD/tests/drill/vt-train" -i "$T/train" -m "$T/net.net" \
	--schedule "$T/s.tsv" -o "$T/bad" --device ref --save-steps 5 --keep 9 -q
check_exit "is found by its replay" 4 vt-train --replay "$T/bad"
check_same "in the first checkpoint after it" "5 same 10 differs " "$(steps)"
check_says "which is named, with a tensor" "ckpt-0000000010.safetensors: [a-z/.0-9]*[a-z] is not what its steps give"
check_exit "later ones agree with it" 0 vt-train --replay "$T/bad" --replay-steps 10:

plan
