#!/bin/sh
# Optimizer state at the averages of learners: averaged, reset, or kept by each
# learner. Each choice has its property, and gives the same bits for every number
# of ranks and after every stop.
# tests/run: weight 20
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
mpi=no
! have_mpi || mpi=yes

"$MAKESET" "$T/train" 48 8 40 32 1 || skip_all "no test set"
# Two samples of one frame each, so every microbatch of two is the same and all
# learners see the same clips.
"$MAKESET" "$T/two" 2 1 40 32 3 png=1 || skip_all "no test set"
small_net 8 8 >"$T/net.net"
# 12 microbatches of 2 clips and 10 steps: --average-every 3 averages after
# steps 3, 6, 9 and the last.
stages '0 0 5 0 24 2 16 2 0.01 0 0' >"$T/s.tsv"
stages '0 0 120 0 24 1 16 2 0.01 0 0' >"$T/two.tsv"

# train DIR [OPTION]...: train on $np ranks, on set $set by schedule $schedule.
set=train schedule=s
train() {
	dir=$1
	shift
	on_ranks vt-train -i "$T/$set" -m "$T/net.net" --schedule "$T/$schedule.tsv" -o "$T/$dir" --device ref --seed 7 -j 1 \
		--optimizer adamw --epsilon 1e-3 "$@"
}
# numbers FILE PREFIX: print the values of all tensors whose names begin with
# PREFIX.
numbers() {
	"$BUILD/tests/tools/weightdump" "$T/$1.safetensors" "$T/all" >"$T/names"
	od -An -v -w4 -tf4 "$T/all" | awk -F'\t' -v prefix="$2" '
		NR == FNR { n = split($3, dim, "x"); c = 1; for (i = 1; i <= n; i++) c *= dim[i]
			has = index($1, prefix) == 1; while (c-- > 0) in_it[at++] = has; next }
		in_it[FNR - 1] { print $1 + 0 }' "$T/names" -
}
# network DIR: write its weights and BN statistics to a file and print the
# file's name.
network() {
	numbers "$1/final" model/ >"$T/$1.numbers"
	numbers "$1/final" bn/ >>"$T/$1.numbers"
	echo "$T/$1.numbers"
}
# apart DIR DIR: print the largest difference of two numbers in them.
apart() {
	paste "$(network "$1")" "$(network "$2")" |
		awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > most) most = d } END { print (NR > 20 ? most + 0 : "none") }'
}
below() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a ~ /^[0-9]/ && b ~ /^[0-9]/ && a + 0 < b + 0) }'
}

# ---- one learner ----

for optimizer in adamw sgd lamb; do
	check "$optimizer: plain training" train plain-$optimizer --optimizer $optimizer
	for how in average keep; do
		check "$optimizer: one learner, --average-state $how" \
			train $how-$optimizer --optimizer $optimizer --learners 1 --average-every 3 \
			--average-state $how
		check "$optimizer: one learner, --average-state $how, gives the bits of plain training" \
			cmp "$(network plain-$optimizer)" "$(network $how-$optimizer)"
	done
done

# ---- learners that see the same clips ----

# With equal clips, average and keep equal the step of one learner. Reset
# differs as soon as there is optimizer state to lose.
set=two schedule=two alike="--no-flip --crop-rule centre"
check "plain training on equal clips" train one $alike
for how in average keep; do
	check "4 learners on equal clips, --average-state $how" \
		train two-$how $alike --learners 4 --average-every 3 --average-state $how
	near=$(apart two-$how one)
	check "4 learners on equal clips equal plain training, --average-state $how: $near" below "$near" 1e-4
done
check "4 learners on equal clips, --average-state reset" \
	train two-reset $alike --learners 4 --average-every 3 --average-state reset
far=$(apart two-reset one)
check "4 learners on equal clips that reset their state do not equal plain training: $far" below 1e-3 "$far"
set=train schedule=s

# ---- state is reset ----

# The first step of Adam has the length of the learning rate, whatever the
# gradient. So does the first step after a reset.
# long DIR: print the fraction of weights that the third step moved by 0.9 to
# 1.01 of the learning rate.
long() {
	numbers "$1/ckpt-0000000002" model/ >"$T/before"
	numbers "$1/ckpt-0000000003" model/ | paste "$T/before" - |
		awk '{ d = $1 - $2; if (d < 0) d = -d; d /= 0.01; if (d > 0.9 && d < 1.01) n++ } END { print (NR > 20 ? n / NR : "none") }'
}
stepwise="--save-steps 1 --keep 20 --epsilon 1e-12 --weight-decay 0 --param-groups plain"
# shellcheck disable=SC2086
{
	check "AdamW, reset at each step" \
		train forgets $stepwise --learners 1 --average-every 1 --average-state reset
	check "AdamW, averaged at each step" train keeps $stepwise --learners 1 --average-every 1
}
forgets=$(long forgets)
check "a step after a reset has the length of the learning rate: fraction $forgets of the weights" \
	below 0.95 "$forgets"
keeps=$(long keeps)
check "a step with state has other lengths: fraction $keeps of the weights" below "$keeps" 0.5
check_same "after a reset, zeros are saved" "0" "$(numbers forgets/final optim/ | sort -u | xargs)"

# ---- each learner keeps its state ----

check "4 learners that keep their own state" train own --learners 4 --average-every 3 --average-state keep
"$BUILD/tests/tools/weightdump" "$T/own/final.safetensors" | cut -f1 >"$T/own.names"
check_same "the state of all 4 learners is saved, and no mean" \
	"4 0" "$(sed -n 's|^learner/\([0-9]*\)/optim/exp_avg/.*|\1|p' "$T/own.names" |
	sort -u | wc -l) $(grep -c '^optim/exp_avg' "$T/own.names")"
check_same "the states of the 4 learners differ" 4 "$(for j in 0 1 2 3; do
	numbers own/final learner/$j/optim/exp_avg_sq/ | md5sum
done | sort -u | wc -l)"

# ---- all choices differ; the same bits ----

others=
# the_same NAME OPTION...: train 4 learners on any number of ranks, and stop
# them at every average to resume on another number of ranks. After that only
# the checkpoint says which state belongs to which learner.
the_same() {
	name=$1
	shift
	np=1
	check "$name" train "$name" --learners 4 --average-every 3 "$@"
	for np in 2 3 4; do
		[ $mpi = yes ] || continue
		check "$name: on $np ranks" train "$name-$np" --learners 4 --average-every 3 "$@"
		check "$name: $np ranks give the same file" same "$name" "$name-$np"
	done
	np=1 again=0
	while [ $again -lt 8 ] && ! [ -s "$T/$name-stops/final.safetensors" ]; do
		[ $mpi = no ] || np=$((again * 3 % 4 + 1))
		train "$name-stops" --learners 4 --average-every 3 --stop-after 0.001s "$@" >"$T/stop.out" 2>&1
		again=$((again + 1))
	done
	np=1
	check_same "$name: a run that is stopped stops at each average" 5 $again
	check "$name: a run that is stopped gives the same file" same "$name" "$name-stops"
	for run in $others; do
		check "$name: its weights are not those of $run" \
			sh -c "! cmp -s '$(network "$name")' '$(network "$run")'"
	done
	others="$others $name"
}
the_same average
the_same reset --average-state reset
the_same keep --average-state keep
others=
the_same keep-ema --average-state keep --ema 0.9 --use-ema --precise-bn 24

# Killed at arbitrary times while it saves at each average.
killed_often 3 train kills --learners 4 --average-every 3 --average-state keep --save-steps 1
check "a run that was killed resumes" \
	train kills --learners 4 --average-every 3 --average-state keep --save-steps 1
check "a run that was killed gives the same file" same keep kills

# ---- an interval that does not end ----

mv "$T/s.tsv" "$T/s.kept"
stages '0 0 2 0 24 2 16 2 0.01 0 0' '1 2 5 0 24 2 16 2 1e9 0 0' >"$T/s.tsv"
check_exit "learners that diverge end with 5" 5 \
	train bad --learners 4 --average-every 3 --average-state keep --max-loss 1e6
mv "$T/s.kept" "$T/s.tsv"
check "a run that saves at each average" train saves --learners 4 --average-every 3 --average-state keep --save-steps 1 \
	--keep 20
check_same "after divergence in step 5, the last checkpoint is of step 3" "ckpt-0000000003.safetensors" \
	"$(cd "$T/bad" && ls ckpt-*.safetensors | xargs)"
numbers bad/ckpt-0000000003 learner/ >"$T/bad.learner"
numbers saves/ckpt-0000000003 learner/ >"$T/saves.learner"
check "the last checkpoint has each learner's state of step 3" cmp "$T/bad.learner" "$T/saves.learner"
check "the learners' state is not empty" test -s "$T/bad.learner"

# ---- other learners ----

cp -r "$T/saves" "$T/more" && rm "$T/more/final.safetensors" "$T"/more/ckpt-0000000010.safetensors
check_message "2 learners are added with --override learners" 0 \
	"has no optim/exp_avg of learner 4, which is initialized" \
	train more --learners 6 --average-every 3 --average-state keep --override learners
check_message "resuming with another --average-state is refused" 2 "average-state was keep and is average now" \
	train saves --learners 4 --average-every 3
plan
