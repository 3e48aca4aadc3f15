#!/bin/sh
# A batch of learners that grows with the noise of its gradients: when it does, by
# the log; what it is then, by a schedule that says the same; and the same bits
# for every number of ranks and after every stop.
# tests/run: weight 20
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
mpi=no
! have_mpi || mpi=yes

"$MAKESET" "$T/train" 48 8 40 32 1 && "$MAKESET" "$T/few" 6 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2 || skip_all "no test set"
small_net 8 8 >"$T/net.net"
# 2 steps of 12 microbatches an epoch
stages '0 0 9 0 24 2 16 2 0.02 0 0' >"$T/s.tsv"
stages '0 0 280 0 24 2 16 2 0.1 0 0' >"$T/few.tsv"
stages '0 0 1 0 24 2 16 2 0.02 0 0' '1 1 3 0 48 2 16 2 0.02 0 0' '2 3 9 0 96 2 16 2 0.02 0 0' >"$T/table.tsv"

# train DIR [OPTION]...: on $np ranks
set=train schedule=s
train() {
	dir=$1
	shift
	on_ranks vt-train -i "$T/$set" -m "$T/net.net" --schedule "$T/$schedule.tsv" -o "$T/$dir" --device ref --seed 7 -j 1 \
		--precise-bn off "$@"
}
# apart DIR DIR: the largest difference of two of their weights or statistics
apart() {
	for run in "$1" "$2"; do
		"$BUILD/tests/tools/weightdump" "$T/$run/final.safetensors" "$T/all" >"$T/names"
		od -An -v -w4 -tf4 "$T/all" | awk -F'\t' '
			NR == FNR { n = split($3, dim, "x"); c = 1; for (i = 1; i <= n; i++) c *= dim[i]
				has = $1 ~ /^(model|bn)\//; while (c-- > 0) in_it[at++] = has; next }
			in_it[FNR - 1] { print $1 + 0 }' "$T/names" - >"$T/$run.numbers"
	done
	paste "$T/$1.numbers" "$T/$2.numbers" |
		awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > most) most = d } END { print (NR > 20 ? most + 0 : "none") }'
}
below() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a ~ /^[0-9]/ && b ~ /^[0-9]/ && a + 0 < b + 0) }'
}
# averages DIR: step, steps since the last, batch and noise scale of each, in order
averages() {
	sed -n '/"type":"average"/{ /noise_scale/!s/"step"/"noise_scale":-,"step"/
		s/.*"batch":\([^,]*\),.*"noise_scale":\([^,]*\),"step":\([0-9]*\),"steps":\([0-9]*\),.*/\3 \4 \1 \2/p; }' \
		"$T/$1/log.jsonl"
}

# ---- what a grown batch is ----

# Of plain SGD, averaged at each update, it is the joint batch.  Where any noise is
# enough it doubles after 2 updates, then after 2 of those: as the table says it.
always="--batch-growth-max 4 --batch-growth-threshold 0 --batch-growth-patience 2"
# shellcheck disable=SC2086
check_exit "a batch that any noise makes grow" 0 train any --learners 4 --average-every 1 $always
check_says "says so" "step 2: the batch is 2 times that of the schedule"
check_says "each time" "step 6: the batch is 4 times that of the schedule"
check_same "and grows no further than it may" "1 1 24
2 1 24
4 2 48
6 2 48
10 4 96
14 4 96
18 4 96" "$(averages any | cut -d' ' -f1-3)"
schedule=table
check "a schedule that says the same" train table
schedule=s
check "and one that grows nothing" train still
near=$(apart any table)
far=$(apart any still)
check "are the same training, to rounding: $near" below "$near" 3e-5
check "and another one: $far" below 1e-3 "$far"
check "in threes, to 5" train threes --learners 4 --average-every 1 --batch-growth-max 5 --batch-growth-factor 3 --batch-growth-threshold 0 --batch-growth-patience 1
check_same "3, then 5, and at the end what is left" "24 72 120 120 96" "$(averages threes | cut -d' ' -f3 | xargs)"

# ---- when it grows ----

# wanted X N MOST: the batches that the noise of AVERAGES on standard input asks for
wanted() {
	awk -v x="$1" -v after="$2" -v most="$3" '
		BEGIN { batch = 24 }
		{ print batch; n = $4 == "-" || $4 / batch > x ? n + 1 : 0 }
		n >= after && batch < most { n = 0; batch = batch * 2 < most ? batch * 2 : most }'
}
# Of 6 samples there is a gradient to begin with, and less of it from step to step.
set=few schedule=few
check "noise above a part of the batch, twice in a row" train noisy --learners 4 --average-every 2 --batch-growth-max 16 \
	--batch-growth-threshold 0.2 --batch-growth-patience 2 --momentum 0 -q
set=train schedule=s
# The last interval ends with the schedule, in the middle of a batch.
check_same "is when it grows" "$(averages noisy | wanted 0.2 2 384 | sed '$d' | xargs)" \
	"$(averages noisy | cut -d' ' -f3 | sed '$d' | xargs)"
check "which it does here" test "$(averages noisy | cut -d' ' -f3 | sed '$d' | sort -u | wc -l)" -ge 3
check "and not at once" test "$(averages noisy | grep -c ' 24 ')" -ge 3
check "from numbers" test "$(averages noisy | grep -vc ' -$')" -ge 5
check "more averages in a row than there are" train never --learners 4 --average-every 2 --batch-growth-max 16 --batch-growth-patience 10
check "no growth" train none --learners 4 --average-every 2
"$BUILD/tests/tools/weightdump" "$T/none/final.safetensors" "$T/none.all" >"$T/none.names"
"$BUILD/tests/tools/weightdump" "$T/never/final.safetensors" "$T/never.all" >"$T/never.names"
head -c -256 "$T/none.all" >"$T/none.numbers"
head -c -256 "$T/never.all" >"$T/never.numbers"
check "is none" cmp "$T/none.numbers" "$T/never.numbers"

# ---- the same bits ----

# shellcheck disable=SC2086
for case in "sgd $always --average-every 1" "adamw $always --average-every 2 --average-state keep --outer-momentum 0.5"; do
	name=${case%% *}
	options="--optimizer $name --learners 4 ${case#* } --val $T/val -q"
	np=1
	check "a batch that grows, $name" train "$name" $options
	for np in 2 3 4; do
		[ $mpi = yes ] || continue
		check "on $np ranks" train "$name$np" $options
		check "gives the same file" cmp "$T/$name/final.safetensors" "$T/$name$np/final.safetensors"
	done
	# Stopped at every average, with what was wanted by then.
	np=1 again=0
	while [ $again -lt 10 ] && ! [ -s "$T/stops-$name/final.safetensors" ]; do
		[ $mpi = no ] || np=$((again * 3 % 4 + 1))
		train "stops-$name" $options --stop-after 0.001s >"$T/stop.out" 2>&1
		again=$((again + 1))
	done
	np=1
	check_same "stopped at each average" "$(averages "$name" | wc -l)" $again
	check "gives the same file" cmp "$T/$name/final.safetensors" "$T/stops-$name/final.safetensors"
done
# shellcheck disable=SC2086
{
	killed_often 3 train kills --learners 4 --average-every 1 $always --val "$T/val" -q --save-steps 1
	check "a run that was killed goes on" train kills --learners 4 --average-every 1 $always --val "$T/val" -q --save-steps 1
	check "and gives the same file" cmp "$T/sgd/final.safetensors" "$T/kills/final.safetensors"
	check_exit "its steps computed again" 0 vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref --seed 7 \
		-j 1 --learners 4 --average-every 1 $always --replay "$T/kills"
	check_same "are the same" "same" "$(sed -n '/^[0-9]/p' "$T/out" | cut -f2 | sort -u)"
}

# ---- refused, and said ----

check_exit "growth of one learner: 2" 2 train no --learners 1 --batch-growth-max 4
check_says "says why" "--batch-growth-max of one learner: it compares learners"
check_exit "growth of none: 2" 2 train no --batch-growth-max 4
check_says "says what is missing" "--batch-growth-max without --learners"
check_exit "when, of what does not: 2" 2 train no --learners 4 --batch-growth-patience 2
check_says "says what is missing" "--batch-growth-patience without --batch-growth-max"
check_exit "groups, whose averages hide the noise: 2" 2 train no --learners 4 --learner-groups 2 --batch-growth-max 4
check_says "says so" "whose averages hide how far learners move apart"
# shellcheck disable=SC2086
check_exit "another threshold: 2" 2 train sgd --learners 4 --average-every 1 --batch-growth-max 4 --batch-growth-patience 2 --val "$T/val"
check_says "is another run" "batch-growth-threshold was 0 and is 1 now"
check_exit "a plan" 0 train no --learners 4 --batch-growth-max 4 -n
check_same "says that it grows" 1 "$(grep -c '^# the batch grows .*up to 4 times' "$T/out")"
check "nothing was touched" test ! -e "$T/no"
plan
