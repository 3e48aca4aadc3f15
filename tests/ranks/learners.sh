#!/bin/sh
# Learners (local SGD) train the same weights for every number of ranks and
# threads, and after every stop. One learner equals plain training. Averaging
# after each step of plain SGD equals a step of the joint batch.
# tests/run: weight 12
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
mpi=no
! have_mpi || mpi=yes

"$MAKESET" "$T/train" 48 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2 || skip_all "no test set"
small_net 8 8 >"$T/net.net"
# 12 microbatches of 2 clips, for 1, 2, 3, 4 and 6 learners; then 12 of another
# shape. 14 steps: --average-every 3 averages after steps 3, 6, 9, 12 and the
# last.
stages '0 0 4 0 24 2 16 2 0.05 0 0' '1 4 7 0 24 2 20 2 0.02 0 0' >"$T/s.tsv"

# train DIR [OPTION]...: train on $np ranks.
train() {
	dir=$1
	shift
	on_ranks vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$dir" --device ref \
		--seed 7 -q "$@"
}
# values DIR: write all numbers of its last checkpoint to $T/DIR.values, without
# the 64 values of the footer, which come last.
values() {
	"$BUILD/tests/tools/weightdump" "$T/$1/final.safetensors" "$T/all" >/dev/null
	head -c -256 "$T/all" >"$T/$1.values"
}
# apart DIR DIR: print the largest difference of two numbers in them.
apart() {
	paste "$(as_text "$1")" "$(as_text "$2")" |
		awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > most) most = d } END { print most + 0 }'
}
as_text() {
	values "$1"
	od -An -v -w4 -tf4 "$T/$1.values" >"$T/$1.text"
	echo "$T/$1.text"
}
# validations_apart DIR DIR: print the largest difference of two validation
# losses.
validations_apart() {
	validations "$1" >"$T/$1.losses"
	validations "$2" | paste - "$T/$1.losses" |
		awk '{ d = $2 - $4; if (d < 0) d = -d; if (d > most) most = d } END { print (NR > 1 ? most + 0 : "none") }'
}
below() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "none" && a + 0 < b + 0) }'
}
# validations DIR: print step and loss of each validation.
validations() {
	sed -n 's/.*"loss":\([^,]*\),.*"step":\([0-9]*\),.*"type":"validation".*/\2 \1/p' "$T/$1/log.jsonl"
}

# ---- one learner ----

common="-j 1 --val $T/val --clip-grad 5"
# shellcheck disable=SC2086
check "plain training" train plain $common
check "one learner trains" train one $common --learners 1 --average-every 3
values plain
values one
check "one learner gives the bits of plain training" cmp "$T/plain.values" "$T/one.values"
check_same "a validation that is due waits for the next average" "3 6 9 12 14" \
	"$(validations one | cut -d' ' -f1 | xargs)"
check_same "after an average the validation equals that of plain training" \
	"$(validations plain | grep '^6 ')" "$(validations one | grep '^6 ')"

mv "$T/s.tsv" "$T/s.kept"
awk -F'\t' -v OFS='\t' '{ print $0, NR == 1 ? "momentum" : NR == 2 ? 0.2 : 0.7 }' "$T/s.kept" >"$T/s.tsv"
check "plain training with a momentum column in the schedule" train says -j 1
check "one learner with a momentum column in the schedule" train says1 -j 1 --learners 1 --average-every 3
mv "$T/s.kept" "$T/s.tsv"
values says
values says1
check "one learner with a momentum column gives the bits of plain training" \
	cmp "$T/says.values" "$T/says1.values"
check "the momentum column changes the weights" sh -c "! cmp -s '$T/says.values' '$T/plain.values'"

check "plain SGD without momentum" train still $common --momentum 0
check "one learner that resets its momentum at each step" \
	train forgets $common --learners 1 --average-every 1 --average-state reset
check_same "momentum that is reset at each step equals no momentum" \
	"$(validations still)" "$(validations forgets)"
check "momentum changes the validations" test "$(validations plain)" != "$(validations still)"

# ---- several learners ----

check "4 learners, averaged each step" train each -j 1 --momentum 0 --learners 4 --average-every 1
check "plain training on the joint batch" train joint -j 1 --momentum 0
check "4 learners, averaged every 3 steps" train four -j 1 --momentum 0 --learners 4 --average-every 3
near=$(apart each joint)
far=$(apart four joint)
check "averaging each step equals a step of the joint batch, to rounding: $near" below "$near" 3e-6
check "averaging every 3 steps does not: $far" below 1e-4 "$far"

# If all learners see the same clips, the mean of their steps is the step of
# one. The set "two" has two samples of one frame, so every microbatch of two is
# the same.
adam="-j 1 --optimizer adamw --epsilon 1e-3 --no-flip --crop-rule centre"
check "a set of two samples" "$MAKESET" "$T/two" 2 1 40 32 3 png=1
for set in two train; do
	mv "$T/s.tsv" "$T/s.kept"
	stages "0 0 $([ $set = two ] && echo 20 || echo 1) 0 8 1 16 2 0.01 0 0" >"$T/s.tsv"
	check "AdamW of 4 learners on the set $set" \
		train a4-$set $adam -i "$T/$set" --learners 4 --average-every 1
	check "AdamW of the joint batch on the set $set" train a0-$set $adam -i "$T/$set"
	mv "$T/s.kept" "$T/s.tsv"
done
near=$(apart a4-two a0-two)
far=$(apart a4-train a0-train)
check "AdamW of learners that see the same clips equals that of one: $near" below "$near" 1e-5
check "AdamW of learners that see different clips does not: $far" below 1e-4 "$far"
check "AdamW with a moving average" train adam $common --optimizer adamw --ema 0.9
check "AdamW with a moving average, one learner" \
	train adam1 $common --optimizer adamw --ema 0.9 --learners 1 --average-every 5
values adam
values adam1
check "one learner with AdamW gives the bits of plain training" cmp "$T/adam.values" "$T/adam1.values"

# ---- noise ----

# noises DIR: print the log lines of all averages, without their times.
noises() {
	sed -n 's/"time":"[^"]*",//; /"type":"average"/p' "$T/$1/log.jsonl"
}
# of AVERAGE FIELD: print FIELD of a log line.
of() {
	echo "$1" | sed -n "s/.*\"$2\":\([^,}]*\).*/\1/p"
}
mv "$T/s.tsv" "$T/s.kept"
for clips in 12 96; do
	stages "0 0 2 0 $clips 2 16 2 0.01 0 0" >"$T/s.tsv"
	check "6 learners of $((clips / 6)) clips log their noise" train n$clips -j 1 --momentum 0 --learners 6 --average-every 1 --noise-scale
done
few=$(noises n12 | head -1) many=$(noises n96 | head -1)
ratio=$(awk -v a="$(of "$few" apart)" -v b="$(of "$many" apart)" 'BEGIN { print (b > 0 ? a * a / b / b : "none") }')
check "8 times the clips have at most a quarter of the variance (about an eighth): 1/$ratio" below 4 "$ratio"
check "8 times the clips have at least a 16th of the variance" below "$ratio" 16
one=$(noises n12 | grep noise_scale | head -1)
check_same "the noise scale in the log is that of the formula" 1 \
	"$(awk -v v="$(of "$one" apart)" -v d="$(of "$one" moved)" \
	-v s="$(of "$one" noise_scale)" 'BEGIN { x = 2 * v * v / (d * d - v * v / 6); print (s > 0 && x / s > 0.999 && x / s < 1.001) }')"
if [ $mpi = yes ]; then
	np=4
	check "the noise is measured on 4 ranks" \
		train n96p4 -j 1 --momentum 0 --learners 6 --average-every 1 --noise-scale
	np=1
	check_same "4 ranks log the same noise as one" "$(noises n96)" "$(noises n96p4)"
fi
mv "$T/s.kept" "$T/s.tsv"
check_exit "--noise-scale with one learner ends with 2" 2 train no -j 1 --learners 1 --noise-scale

# ---- the same bits ----

options="--learners 4 --average-every 3 --val $T/val --momentum 0.9 --ema 0.9 --precise-bn 24 --use-ema"
# shellcheck disable=SC2086
{
	check "4 learners on one rank" train p1 -j 1 $options
	check "4 learners on one rank of 2 threads" train p1j2 -j 2 $options
	check "1 and 2 threads give the same bits" cmp "$T/p1/final.safetensors" "$T/p1j2/final.safetensors"
	check "other options give other bits" \
		sh -c "! cmp -s '$T/p1/final.safetensors' '$T/four/final.safetensors'"
	for np in 2 3 4; do
		[ $mpi = yes ] || continue
		check "4 learners on $np ranks" train p$np -j $((1 + np % 2)) $options
		check "$np ranks give the same bits" cmp "$T/p1/final.safetensors" "$T/p$np/final.safetensors"
	done
	# Stopped at every average and resumed on another number of ranks.
	np=1 again=0
	while [ $again -lt 10 ] && ! [ -s "$T/stops/final.safetensors" ]; do
		[ $mpi = no ] || np=$((again * 3 % 4 + 1))
		train stops -j 1 $options --stop-after 0.001s >"$T/stop.out" 2>&1
		again=$((again + 1))
	done
	check_same "a run that is stopped stops at each average" 6 $again
	check "a run that is stopped at each average ends with the same bits" \
		cmp "$T/p1/final.safetensors" "$T/stops/final.safetensors"
	# Killed at arbitrary times while it saves at each average.
	killed_often 4 train kills -j 1 $options --save-steps 1
	check "a run that was killed resumes" train kills -j 1 $options
	check "a run that was killed ends with the same bits" \
		cmp "$T/p1/final.safetensors" "$T/kills/final.safetensors"
}

# ---- refusals and messages ----

np=1
if [ $mpi = yes ]; then
	np=3
	check_message "more ranks than learners end with 2" 2 "2 learners on 3 ranks: a rank has whole learners" \
		train no -j 1 --learners 2
	np=1
fi
check_message "learners with --deterministic=fast end with 2" 2 "wanted --deterministic=exact" \
	train no -j 1 --learners 2 --deterministic fast
check_message "learners with --loss-scale=dynamic end with 2" 2 "wanted a number for --loss-scale" \
	train no -j 1 --learners 2 --loss-scale dynamic
for with in --audit=2 --on-nan=skip:1 --on-corrupt=skip:0.1; do
	check_exit "learners with $with end with 2" 2 train no -j 1 --learners 2 $with
	check_says "learners with $with: the message names both options" \
		'--learners cannot be with --audit, --on-nan=skip or --on-corrupt=skip'
done
check_exit "a batch that 5 learners cannot share ends with 2" 2 train no -j 1 --learners 5
check_says "a batch that 5 learners cannot share: the message shows microbatches and learners" \
	"makes 12 microbatches, which 5 learners cannot share"
check_message "--average-every without --learners ends with 2" 2 "--average-every without --learners" \
	train no -j 1 --average-every 2
check_message "resuming with another number of learners ends with 2" 2 "learners was 4 and is 2 now" \
	train p1 -j 1 --learners 2 --average-every 3 --momentum 0.9 --val "$T/val"
check "a refused run makes no folder" test ! -e "$T/no"
check_exit "a dry run of 4 learners" 0 train no -j 1 --learners 4 -n
check_same "the dry run shows how many learners a rank has" 1 \
	"$(grep -c '^# learners .*4, averaged every 8 steps, 4 on rank 0' "$T/out")"
check_same "the dry run shows how much memory the learners take" 1 \
	"$(grep -c '^# learners .*[kMK]i\?B$' "$T/out")"

# The loss grows too large in the middle of an averaging interval.
stages '0 0 2 0 24 2 16 2 0.05 0 0' '1 2 7 0 24 2 20 2 1000 0 0' >"$T/s.tsv"
check_message "learners that diverge end with 5" 5 "the run has diverged" train bad -j 1 --learners 4 --average-every 3
last=$(sed -n 's/.*step \([0-9]*\): .*/\1/p' "$T/err" | head -1)
check_same "after divergence in step $last, the last checkpoint is that of the last average" \
	"$(printf ckpt-%010d.safetensors $((last / 3 * 3)))" "$(cd "$T/bad" && ls ckpt-*.safetensors | xargs)"
check "step $last is not an average's step" test $((last % 3)) -gt 0
plan
