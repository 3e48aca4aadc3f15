#!/bin/sh
# Learners: the same weights for every number of ranks and threads and after
# every stop; one learner is plain training, and an average after each step of
# plain SGD is a step of the joint batch.
# tests/run: weight 12
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
mpi=no
! have_mpi || mpi=yes

"$MAKESET" "$T/train" 48 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2 || skip_all "no test set"
small_net 8 8 >"$T/net.net"
# 12 microbatches of 2 clips, for 1, 2, 3, 4 and 6 learners; then 12 of another
# shape.  14 steps: averages every 3 fall after 3, 6, 9, 12 and the last.
stages '0 0 4 0 24 2 16 2 0.05 0 0' '1 4 7 0 24 2 20 2 0.02 0 0' >"$T/s.tsv"

# train DIR [OPTION]...: on $np ranks
train() {
	dir=$1
	shift
	on_ranks vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$dir" --device ref \
		--seed 7 -q "$@"
}
# values DIR: all numbers of its last checkpoint, in $T/DIR.values, less the 64 of
# the footer, which come last
values() {
	"$BUILD/tests/tools/weightdump" "$T/$1/final.safetensors" "$T/all" >/dev/null
	head -c -256 "$T/all" >"$T/$1.values"
}
# apart DIR DIR: the largest difference of two numbers there
apart() {
	paste "$(as_text "$1")" "$(as_text "$2")" |
		awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > most) most = d } END { print most + 0 }'
}
as_text() {
	values "$1"
	od -An -v -w4 -tf4 "$T/$1.values" >"$T/$1.text"
	echo "$T/$1.text"
}
# validations_apart DIR DIR: the largest difference of two losses there
validations_apart() {
	validations "$1" >"$T/$1.losses"
	validations "$2" | paste - "$T/$1.losses" |
		awk '{ d = $2 - $4; if (d < 0) d = -d; if (d > most) most = d } END { print (NR > 1 ? most + 0 : "none") }'
}
below() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "none" && a + 0 < b + 0) }'
}
# validations DIR: step and loss of each
validations() {
	sed -n 's/.*"loss":\([^,]*\),.*"step":\([0-9]*\),.*"type":"validation".*/\2 \1/p' "$T/$1/log.jsonl"
}

# ---- what one learner is ----

common="-j 1 --val $T/val --clip-grad 5"
# shellcheck disable=SC2086
check "plain training" train plain $common
check "one learner" train one $common --learners 1 --average-every 3
values plain
values one
check "gives the bits of plain training" cmp "$T/plain.values" "$T/one.values"
check_same "a validation that was due waits for the average" "3 6 9 12 14" \
	"$(validations one | cut -d' ' -f1 | xargs)"
check_same "and then says the same" "$(validations plain | grep '^6 ')" "$(validations one | grep '^6 ')"

mv "$T/s.tsv" "$T/s.kept"
awk -F'\t' -v OFS='\t' '{ print $0, NR == 1 ? "momentum" : NR == 2 ? 0.2 : 0.7 }' "$T/s.kept" >"$T/s.tsv"
check "a momentum that the schedule says" train says -j 1
check "as one learner" train says1 -j 1 --learners 1 --average-every 3
mv "$T/s.kept" "$T/s.tsv"
values says
values says1
check "gives the bits of plain training" cmp "$T/says.values" "$T/says1.values"
check "and others than without" sh -c "! cmp -s '$T/says.values' '$T/plain.values'"

check "plain SGD without momentum" train still $common --momentum 0
check "momentum that each step forgets" train forgets $common --learners 1 --average-every 1 --average-state reset
check_same "is none" "$(validations still)" "$(validations forgets)"
check "and momentum is something else" test "$(validations plain)" != "$(validations still)"

# ---- what several are ----

check "4 learners, averaged each step" train each -j 1 --momentum 0 --learners 4 --average-every 1
check "the joint batch" train joint -j 1 --momentum 0
check "4 learners, averaged every 3 steps" train four -j 1 --momentum 0 --learners 4 --average-every 3
near=$(apart each joint)
far=$(apart four joint)
check "an average each step is a step of the joint batch, to rounding: $near" below "$near" 3e-6
check "an average every 3 steps is not: $far" below 1e-4 "$far"

# Of learners that see the same, the mean of the steps is the step: of two samples
# of one frame each, all that a microbatch of two has.
adam="-j 1 --optimizer adamw --epsilon 1e-3 --no-flip --crop-rule centre"
check "a set of two" "$MAKESET" "$T/two" 2 1 40 32 3 png=1
for set in two train; do
	mv "$T/s.tsv" "$T/s.kept"
	stages "0 0 $([ $set = two ] && echo 20 || echo 1) 0 8 1 16 2 0.01 0 0" >"$T/s.tsv"
	check "AdamW of 4 learners, $set" train a4-$set $adam -i "$T/$set" --learners 4 --average-every 1
	check "and of the joint batch" train a0-$set $adam -i "$T/$set"
	mv "$T/s.kept" "$T/s.tsv"
done
near=$(apart a4-two a0-two)
far=$(apart a4-train a0-train)
check "AdamW of learners that see the same is that of one: $near" below "$near" 1e-5
check "of learners that do not, it is not: $far" below 1e-4 "$far"
check "AdamW with a moving average" train adam $common --optimizer adamw --ema 0.9
check "as one learner" train adam1 $common --optimizer adamw --ema 0.9 --learners 1 --average-every 5
values adam
values adam1
check "gives the bits of plain training" cmp "$T/adam.values" "$T/adam1.values"

# ---- an outer step ----

check "plain steps, averaged each step, with outer momentum" train outer $common --clip-grad 0 --momentum 0 --learners 4 \
	--average-every 1 --outer-momentum 0.9
check "momentum over the joint batch" train moved $common --clip-grad 0 --momentum 0.9
near=$(validations_apart outer moved)
check "are the same, to rounding: $near" below "$near" 1e-4
check "no outer step" train four2 -j 1 --momentum 0 --learners 4 --average-every 3 --outer-lr 1
check "is what averages are" cmp "$T/four/final.safetensors" "$T/four2/final.safetensors"
check "a smaller one" train half -j 1 --momentum 0 --learners 4 --average-every 3 --outer-lr 0.5
check "is not" test "$(apart four half)" != 0

# ---- noise ----

# noises DIR: of each average, as the log has it
noises() {
	sed -n 's/"time":"[^"]*",//; /"type":"average"/p' "$T/$1/log.jsonl"
}
# of AVERAGE FIELD
of() {
	echo "$1" | sed -n "s/.*\"$2\":\([^,}]*\).*/\1/p"
}
mv "$T/s.tsv" "$T/s.kept"
for clips in 12 96; do
	stages "0 0 2 0 $clips 2 16 2 0.01 0 0" >"$T/s.tsv"
	check "6 learners of $((clips / 6)) clips" train n$clips -j 1 --momentum 0 --learners 6 --average-every 1 --noise-scale
done
few=$(noises n12 | head -1) many=$(noises n96 | head -1)
ratio=$(awk -v a="$(of "$few" apart)" -v b="$(of "$many" apart)" 'BEGIN { print (b > 0 ? a * a / b / b : "none") }')
check "8 times the clips have about an eighth of the variance: 1/$ratio" below 4 "$ratio"
check "and no less" below "$ratio" 16
one=$(noises n12 | grep noise_scale | head -1)
check_same "the scale is that of the formula" 1 "$(awk -v v="$(of "$one" apart)" -v d="$(of "$one" moved)" \
	-v s="$(of "$one" noise_scale)" 'BEGIN { x = 2 * v * v / (d * d - v * v / 6); print (s > 0 && x / s > 0.999 && x / s < 1.001) }')"
if [ $mpi = yes ]; then
	np=4
	check "the same on 4 ranks" train n96p4 -j 1 --momentum 0 --learners 6 --average-every 1 --noise-scale
	np=1
	check_same "says the same" "$(noises n96)" "$(noises n96p4)"
fi
mv "$T/s.kept" "$T/s.tsv"
check_exit "the noise of one: 2" 2 train no -j 1 --learners 1 --noise-scale

# ---- the same bits ----

options="--learners 4 --average-every 3 --val $T/val --momentum 0.9 --outer-momentum 0.5 --ema 0.9 --precise-bn 24 --use-ema"
# shellcheck disable=SC2086
{
	check "4 learners on one rank" train p1 -j 1 $options
	check "on 2 threads" train p1j2 -j 2 $options
	check "give the same bits" cmp "$T/p1/final.safetensors" "$T/p1j2/final.safetensors"
	check "other learners do not" sh -c "! cmp -s '$T/p1/final.safetensors' '$T/four/final.safetensors'"
	for np in 2 3 4; do
		[ $mpi = yes ] || continue
		check "$np ranks" train p$np -j $((1 + np % 2)) $options
		check "give the same bits" cmp "$T/p1/final.safetensors" "$T/p$np/final.safetensors"
	done
	# Stopped at every average, and gone on with on another number of ranks.
	np=1 again=0
	while [ $again -lt 10 ] && ! [ -s "$T/stops/final.safetensors" ]; do
		[ $mpi = no ] || np=$((again * 3 % 4 + 1))
		train stops -j 1 $options --stop-after 0.001s >"$T/stop.out" 2>&1
		again=$((again + 1))
	done
	check_same "a run that is stopped stops at each average" 5 $again
	check "and ends with the same bits" cmp "$T/p1/final.safetensors" "$T/stops/final.safetensors"
	# Killed, wherever that is, while it saves at each average.
	killed_often 4 train kills -j 1 $options --save-steps 1
	check "a run that was killed goes on" train kills -j 1 $options
	check "and ends with the same bits" cmp "$T/p1/final.safetensors" "$T/kills/final.safetensors"
}

# ---- groups ----

options="--learners 6 --average-every 6 --momentum 0.9 --outer-momentum 0.5"
# shellcheck disable=SC2086
{
	np=1
	check "6 learners in 3 groups" train g3 -j 1 $options --learner-groups 3 --group-every 2
	for np in 2 4 5 6; do	# inside ranks, across them, and both
		[ $mpi = yes ] || continue
		check "on $np ranks" train g3p$np -j 1 $options --learner-groups 3 --group-every 2
		check "give the same bits" cmp "$T/g3/final.safetensors" "$T/g3p$np/final.safetensors"
	done
	np=1
	check "groups of one" train g6 -j 1 $options --learner-groups 6
	check "no groups" train g0 -j 1 $options
	check "one group of all" train g1 -j 1 --learners 6 --average-every 6 --learner-groups 1 --group-every 3
	check "an average of all as often" train thrice -j 1 --learners 6 --average-every 3
	for run in g3 g6 g0 g1 thrice; do values $run; done
	check "a group of one is none" cmp "$T/g6.values" "$T/g0.values"
	check "a group of all is all" cmp "$T/g1.values" "$T/thrice.values"
	check "groups are something else" sh -c "! cmp -s '$T/g3.values' '$T/g0.values'"
}
check_exit "groups of two sizes: 2" 2 train no -j 1 --learners 6 --learner-groups 4
check_says "says what is wanted" "wanted a divisor of 6 for --learner-groups"

# ---- refused, and said ----

np=1
if [ $mpi = yes ]; then
	np=3
	check_exit "more ranks than learners: 2" 2 train no -j 1 --learners 2
	check_says "with the rule" "2 learners on 3 ranks: a rank has whole learners"
	np=1
fi
check_exit "sums in any order: 2" 2 train no -j 1 --learners 2 --deterministic fast
check_says "says what is wanted" "wanted --deterministic=exact"
check_exit "a scale of the loss that moves: 2" 2 train no -j 1 --learners 2 --loss-scale dynamic
check_says "says what is wanted" "wanted a number for --loss-scale"
for with in --audit=2 --on-nan=skip:1 --on-corrupt=skip:0.1; do
	check_exit "$with: 2" 2 train no -j 1 --learners 2 $with
	check_says "is refused with learners" '--learners cannot be with --audit, --on-nan=skip or --on-corrupt=skip'
done
check_exit "a batch that learners cannot share: 2" 2 train no -j 1 --learners 5
check_says "says what of" "makes 12 microbatches, which 5 learners cannot share"
check_exit "an average of nobody: 2" 2 train no -j 1 --average-every 2
check_says "says what is missing" "--average-every without --learners"
check_exit "another number of learners: 2" 2 train p1 -j 1 --learners 2 --average-every 3 --momentum 0.9 --val "$T/val"
check_says "is another run" "learners was 4 and is 2 now"
check "nothing was touched" test ! -e "$T/no"
check_exit "a plan" 0 train no -j 1 --learners 4 -n
check_same "says how many learners a rank has" 1 "$(grep -c '^# learners .*4, averaged every 8 steps, 4 on rank 0' "$T/out")"
check_same "and what memory they take" 1 "$(grep -c '^# learners .*[kMK]i\?B$' "$T/out")"

# A loss that is too large in the middle of an interval.
stages '0 0 2 0 24 2 16 2 0.05 0 0' '1 2 7 0 24 2 20 2 1000 0 0' >"$T/s.tsv"
check_exit "learners that diverge: 5" 5 train bad -j 1 --learners 4 --average-every 3
check_says "say so" "the run has diverged"
last=$(sed -n 's/.*step \([0-9]*\): .*/\1/p' "$T/err" | head -1)
check_same "in step $last, and what the last average made is saved" \
	"$(printf ckpt-%010d.safetensors $((last / 3 * 3)))" "$(cd "$T/bad" && ls ckpt-*.safetensors | xargs)"
check "which is none of step $last" test $((last % 3)) -gt 0
plan
