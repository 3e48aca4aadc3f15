#!/bin/sh
# The batch of learners grows with the noise of its gradients, and trains like a
# schedule with the same batches. The log shows when it grows. The bits are the
# same for every number of ranks and after every stop.
# tests/run: weight 20
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
mpi=no
! have_mpi || mpi=yes

"$MAKESET" "$T/train" 48 8 40 32 1 && "$MAKESET" "$T/few" 6 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2 || skip_all "no test set"
small_net 8 8 >"$T/net.net"
# 2 steps of 12 microbatches an epoch.
stages '0 0 9 0 24 2 16 2 0.02 0 0' >"$T/s.tsv"
stages '0 0 280 0 24 2 16 2 0.1 0 0' >"$T/few.tsv"
stages '0 0 1 0 24 2 16 2 0.02 0 0' '1 1 3 0 48 2 16 2 0.02 0 0' '2 3 9 0 96 2 16 2 0.02 0 0' >"$T/table.tsv"

# train DIR [OPTION]...: train on $np ranks, on set $set by schedule $schedule.
set=train schedule=s
train() {
	dir=$1
	shift
	on_ranks vt-train -i "$T/$set" -m "$T/net.net" --schedule "$T/$schedule.tsv" -o "$T/$dir" --device ref --seed 7 -j 1 \
		--precise-bn off "$@"
}
# averages DIR: print step, steps since the last average, batch and noise scale
# of each average, in order.
averages() {
	sed -n '/"type":"average"/{ /noise_scale/!s/"step"/"noise_scale":-,"step"/
		s/.*"batch":\([^,]*\),.*"noise_scale":\([^,]*\),"step":\([0-9]*\),"steps":\([0-9]*\),.*/\3 \4 \1 \2/p; }' \
		"$T/$1/log.jsonl"
}

# ---- the grown batch ----

# Plain SGD that averages at each update equals training on the joint batch.
# With threshold 0 the batch doubles after 2 updates, then after 2 updates of
# that batch, as table.tsv says.
always="--batch-growth-max 4 --batch-growth-threshold 0 --batch-growth-patience 2"
# shellcheck disable=SC2086
check_exit "learners whose batch grows with any noise" 0 train any --learners 4 --average-every 1 $always
check_says "a message announces the first growth" "step 2: the batch is 2 times that of the schedule"
check_says "a message announces the second growth" "step 6: the batch is 4 times that of the schedule"
check_same "the batch grows no further than --batch-growth-max" "1 1 24
2 1 24
4 2 48
6 2 48
10 4 96
14 4 96
18 4 96" "$(averages any | cut -d' ' -f1-3)"
schedule=table
check "plain training by a schedule with the same batches" train table
schedule=s
check "plain training with a constant batch" train still
near=$(weights_apart any table)
far=$(weights_apart any still)
check "a grown batch trains as a schedule with the same batches, to rounding: $near" is_below "$near" 3e-5
check "a grown batch trains other weights than a constant batch: $far" is_below 1e-3 "$far"
check "learners whose batch grows by a factor of 3, up to 5 times" \
	train threes --learners 4 --average-every 1 --batch-growth-max 5 --batch-growth-factor 3 --batch-growth-threshold 0 --batch-growth-patience 1
check_same "the batch grows to 3 times, then 5, and the last update takes the rest" \
	"24 72 120 120 96" "$(averages threes | cut -d' ' -f3 | xargs)"

# ---- when the batch grows ----

# wanted X N MOST: read AVERAGES on standard input and print the batches that
# threshold X and patience N ask for, up to MOST.
wanted() {
	awk -v x="$1" -v after="$2" -v most="$3" '
		BEGIN { batch = 24 }
		{ print batch; n = $4 == "-" || $4 / batch > x ? n + 1 : 0 }
		n >= after && batch < most { n = 0; batch = batch * 2 < most ? batch * 2 : most }'
}
# On 6 samples the gradient is large at first and shrinks from step to step, so
# the noise scale rises.
set=few schedule=few
check "learners whose batch grows when noise exceeds a fifth of it twice in a row" \
	train noisy --learners 4 --average-every 2 --batch-growth-max 16 \
	--batch-growth-threshold 0.2 --batch-growth-patience 2 --momentum 0 -q
set=train schedule=s
# The last interval ends with the schedule, in the middle of a batch.
check_same "the batch grows when the logged noise asks for it" \
	"$(averages noisy | wanted 0.2 2 384 | sed '$d' | xargs)" \
	"$(averages noisy | cut -d' ' -f3 | sed '$d' | xargs)"
check "the batch grows at least twice in this run" \
	test "$(averages noisy | cut -d' ' -f3 | sed '$d' | sort -u | wc -l)" -ge 3
check "the batch does not grow at once" test "$(averages noisy | grep -c ' 24 ')" -ge 3
check "at least 5 averages log a noise scale" test "$(averages noisy | grep -vc ' -$')" -ge 5
check "learners whose patience exceeds the number of averages" \
	train never --learners 4 --average-every 2 --batch-growth-max 16 --batch-growth-patience 10
check "learners without batch growth" train none --learners 4 --average-every 2
"$BUILD/tests/tools/weightdump" "$T/none/final.safetensors" "$T/none.all" >"$T/none.names"
"$BUILD/tests/tools/weightdump" "$T/never/final.safetensors" "$T/never.all" >"$T/never.names"
head -c -256 "$T/none.all" >"$T/none.numbers"
head -c -256 "$T/never.all" >"$T/never.numbers"
check "patience that is never reached gives the weights of no growth" cmp "$T/none.numbers" "$T/never.numbers"

# ---- the same bits ----

# shellcheck disable=SC2086
for case in "sgd $always --average-every 1" "adamw $always --average-every 2 --average-state keep"; do
	name=${case%% *}
	options="--optimizer $name --learners 4 ${case#* } --val $T/val -q"
	np=1
	check "$name: a batch that grows" train "$name" $options
	for np in 2 3 4; do
		[ $mpi = yes ] || continue
		check "$name: a batch that grows, on $np ranks" train "$name$np" $options
		check "$name: $np ranks give the same file" \
			cmp "$T/$name/final.safetensors" "$T/$name$np/final.safetensors"
	done
	# Stopped at every average. The checkpoint carries how often noise
	# exceeded the threshold.
	np=1 again=0
	while [ $again -lt 10 ] && ! [ -s "$T/stops-$name/final.safetensors" ]; do
		[ $mpi = no ] || np=$((again * 3 % 4 + 1))
		train "stops-$name" $options --stop-after 0.000001s >"$T/stop.out" 2>&1
		again=$((again + 1))
	done
	np=1
	check_same "$name: a run that is stopped stops at each average" $(($(averages "$name" | wc -l) + 1)) $again
	check "$name: a run that is stopped gives the same file" \
		cmp "$T/$name/final.safetensors" "$T/stops-$name/final.safetensors"
done
# shellcheck disable=SC2086
{
	killed_often 3 train kills --learners 4 --average-every 1 $always --val "$T/val" -q --save-steps 1
	check "a run that was killed resumes" \
		train kills --learners 4 --average-every 1 $always --val "$T/val" -q --save-steps 1
	check "a run that was killed gives the same file" \
		cmp "$T/sgd/final.safetensors" "$T/kills/final.safetensors"
	check_exit "--replay of the killed run" 0 \
		vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref --seed 7 \
		-j 1 --learners 4 --average-every 1 $always --replay "$T/kills"
	check_same "every replayed step is the same" "same" "$(sed -n '/^[0-9]/p' "$T/out" | cut -f2 | sort -u)"
}

# ---- refusals and messages ----

check_exit "growth of one learner: 2" 2 train no --learners 1 --batch-growth-max 4
check_says "says why" "--batch-growth-max of one learner: it compares learners"
check_exit "when, of what does not: 2" 2 train no --learners 4 --batch-growth-patience 2
check_says "says what is missing" "--batch-growth-patience without --batch-growth-max"
# shellcheck disable=SC2086
check_message "resuming with another growth threshold ends with 2" 2 "batch-growth-threshold was 0 and is 1 now" \
	train sgd --learners 4 --average-every 1 --batch-growth-max 4 --batch-growth-patience 2 --val "$T/val"
check_exit "a dry run with batch growth" 0 train no --learners 4 --batch-growth-max 4 -n
check_same "the dry run shows that the batch grows, and its limit" 1 \
	"$(grep -c '^# the batch grows .*up to 4 times' "$T/out")"
check "a refused run and a dry run make no folder" test ! -e "$T/no"
plan
