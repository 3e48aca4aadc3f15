#!/bin/sh
# What optimisers keep at the averages of learners: its mean, nothing, or each
# its own; with and without an outer step.  What holds of each, and the same bits
# for every number of ranks and after every stop.
# tests/run: weight 20
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
mpi=no
! have_mpi || mpi=yes

"$MAKESET" "$T/train" 48 8 40 32 1 || skip_all "no test set"
# Two samples of one frame each, all that a microbatch of two has: learners that
# see the same.
"$MAKESET" "$T/two" 2 1 40 32 3 png=1 || skip_all "no test set"
small_net 8 8 >"$T/net.net"
# 12 microbatches of 2 clips; 10 steps: averages every 3 fall after 3, 6, 9 and
# the last.
stages '0 0 5 0 24 2 16 2 0.01 0 0' >"$T/s.tsv"
stages '0 0 120 0 24 1 16 2 0.01 0 0' >"$T/two.tsv"

# train DIR [OPTION]...: on $np ranks, of set $set
set=train schedule=s
train() {
	dir=$1
	shift
	on_ranks vt-train -i "$T/$set" -m "$T/net.net" --schedule "$T/$schedule.tsv" -o "$T/$dir" --device ref --seed 7 -j 1 \
		--optimizer adamw --epsilon 1e-3 "$@"
}
# numbers FILE PREFIX: those of the tensors whose names begin with it
numbers() {
	"$BUILD/tests/tools/weightdump" "$T/$1.safetensors" "$T/all" >"$T/names"
	od -An -v -w4 -tf4 "$T/all" | awk -F'\t' -v prefix="$2" '
		NR == FNR { n = split($3, dim, "x"); c = 1; for (i = 1; i <= n; i++) c *= dim[i]
			has = index($1, prefix) == 1; while (c-- > 0) in_it[at++] = has; next }
		in_it[FNR - 1] { print $1 + 0 }' "$T/names" -
}
# network DIR: weights and statistics, to be compared
network() {
	numbers "$1/final" model/ >"$T/$1.numbers"
	numbers "$1/final" bn/ >>"$T/$1.numbers"
	echo "$T/$1.numbers"
}
# apart DIR DIR: the largest difference of two numbers there
apart() {
	paste "$(network "$1")" "$(network "$2")" |
		awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > most) most = d } END { print (NR > 20 ? most + 0 : "none") }'
}
below() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a ~ /^[0-9]/ && b ~ /^[0-9]/ && a + 0 < b + 0) }'
}
same_file() {
	cmp "$T/$1/final.safetensors" "$T/$2/final.safetensors"
}

# ---- one learner ----

for optimizer in adamw sgd lamb; do
	check "plain training, $optimizer" train plain-$optimizer --optimizer $optimizer
	for how in average keep; do
		check "one learner, $how" train $how-$optimizer --optimizer $optimizer --learners 1 --average-every 3 \
			--average-state $how
		check "gives the bits of plain training" cmp "$(network plain-$optimizer)" "$(network $how-$optimizer)"
	done
done

# ---- learners that see the same ----

# As long as they do, none of the three ways to average is anything but the step of
# one; where nothing is kept, only as long as there is nothing to keep.
set=two schedule=two alike="--no-flip --crop-rule centre"
check "the joint batch of the same" train one $alike
for how in average keep; do
	check "4 learners that see the same, $how" train two-$how $alike --learners 4 --average-every 3 --average-state $how
	near=$(apart two-$how one)
	check "are one: $near" below "$near" 1e-4
done
check "and which forget" train two-reset $alike --learners 4 --average-every 3 --average-state reset
far=$(apart two-reset one)
check "are not: $far" below 1e-3 "$far"
set=train schedule=s

# ---- nothing is kept ----

# The first steps of Adam have the length of the learning rate, whatever the
# gradient; so it is after an average.
# long DIR: the part of weights that the third step moved by 0.9 to 1.01 of it
long() {
	numbers "$1/ckpt-0000000002" model/ >"$T/before"
	numbers "$1/ckpt-0000000003" model/ | paste "$T/before" - |
		awk '{ d = $1 - $2; if (d < 0) d = -d; d /= 0.01; if (d > 0.9 && d < 1.01) n++ } END { print (NR > 20 ? n / NR : "none") }'
}
stepwise="--save-steps 1 --keep 20 --epsilon 1e-12 --weight-decay 0 --param-groups plain"
# shellcheck disable=SC2086
{
	check "AdamW, forgotten at each step" train forgets $stepwise --learners 1 --average-every 1 --average-state reset
	check "AdamW" train keeps $stepwise --learners 1 --average-every 1
}
forgets=$(long forgets)
check "a step after nothing has the length of the learning rate: of $forgets" below 0.95 "$forgets"
keeps=$(long keeps)
check "others have their own: of $keeps" below "$keeps" 0.5
check_same "nothing is saved" "0" "$(numbers forgets/final optim/ | sort -u | xargs)"

# ---- each keeps its own ----

check "4 learners that keep their own" train own --learners 4 --average-every 3 --average-state keep
"$BUILD/tests/tools/weightdump" "$T/own/final.safetensors" | cut -f1 >"$T/own.names"
check_same "all of it is saved, and no mean" "4 0" "$(sed -n 's|^learner/\([0-9]*\)/optim/exp_avg/.*|\1|p' "$T/own.names" |
	sort -u | wc -l) $(grep -c '^optim/exp_avg' "$T/own.names")"
check_same "and differs" 4 "$(for j in 0 1 2 3; do
	numbers own/final learner/$j/optim/exp_avg_sq/ | md5sum
done | sort -u | wc -l)"

# ---- none of these is another; the same bits ----

others=
# the_same NAME OPTION...: of 4 learners, on any number of ranks, and stopped at
# every average to go on on another number of them; which of the learners' moments
# is whose is then all that the checkpoint says
the_same() {
	name=$1
	shift
	np=1
	check "$name" train "$name" --learners 4 --average-every 3 "$@"
	for np in 2 3 4; do
		[ $mpi = yes ] || continue
		check "on $np ranks" train "$name-$np" --learners 4 --average-every 3 "$@"
		check "gives the same file" same_file "$name" "$name-$np"
	done
	np=1 again=0
	while [ $again -lt 8 ] && ! [ -s "$T/$name-stops/final.safetensors" ]; do
		[ $mpi = no ] || np=$((again * 3 % 4 + 1))
		train "$name-stops" --learners 4 --average-every 3 --stop-after 0.001s "$@" >"$T/stop.out" 2>&1
		again=$((again + 1))
	done
	np=1
	check_same "stopped at each average" 4 $again
	check "gives the same file" same_file "$name" "$name-stops"
	for run in $others; do
		check "which is not that of $run" sh -c "! cmp -s '$(network "$name")' '$(network "$run")'"
	done
	others="$others $name"
}
the_same average
the_same reset --average-state reset
the_same keep --average-state keep
the_same outer --outer-momentum 0.8 --outer-lr 0.7
the_same keep-outer --average-state keep --outer-momentum 0.8 --outer-lr 0.7
the_same keep-groups --average-state keep --learner-groups 2 --group-every 1
others=
the_same keep-ema --average-state keep --ema 0.9 --use-ema --precise-bn 24

# Killed, wherever that is, while it saves at each average.
killed_often 3 train kills --learners 4 --average-every 3 --average-state keep --save-steps 1
check "a run that was killed goes on" train kills --learners 4 --average-every 3 --average-state keep --save-steps 1
check "and gives the same file" same_file keep kills

# ---- what is left of an interval that is not done ----

mv "$T/s.tsv" "$T/s.kept"
stages '0 0 2 0 24 2 16 2 0.01 0 0' '1 2 5 0 24 2 16 2 1e9 0 0' >"$T/s.tsv"
check_exit "learners that diverge: 5" 5 train bad --learners 4 --average-every 3 --average-state keep --max-loss 1e6
mv "$T/s.kept" "$T/s.tsv"
check "a run that saves at each average" train saves --learners 4 --average-every 3 --average-state keep --save-steps 1 \
	--keep 20
check_same "in step 5, and what is saved is of step 3" "ckpt-0000000003.safetensors" \
	"$(cd "$T/bad" && ls ckpt-*.safetensors | xargs)"
numbers bad/ckpt-0000000003 learner/ >"$T/bad.learner"
numbers saves/ckpt-0000000003 learner/ >"$T/saves.learner"
check "with what the learners kept there" cmp "$T/bad.learner" "$T/saves.learner"
check "which is something" test -s "$T/bad.learner"

# ---- other learners ----

cp -r "$T/saves" "$T/more" && rm "$T/more/final.safetensors" "$T"/more/ckpt-0000000010.safetensors
check_exit "2 learners more" 0 train more --learners 6 --average-every 3 --average-state keep --override learners
check_says "begin with nothing" "has no optim/exp_avg of learner 4, which is initialized"
check_exit "another way" 2 train saves --learners 4 --average-every 3
check_says "is another run" "average-state was keep and is average now"
plan
