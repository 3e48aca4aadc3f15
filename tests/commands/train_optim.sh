#!/bin/sh
# vt-train with each optimizer, a moving average of the weights and a loss
# scale: the same weights for every number of ranks and after stops and kills.
# Validation, export and scoring use the right weights, and wrong combinations
# are refused.
# tests/run: weight 20
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
# As in torture/kills: a rank that is killed in MPI_Init must not hold PMIx's
# lock.
PMIX_MCA_gds="hash"
export PMIX_MCA_gds

"$MAKESET" "$T/train" 40 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2 || skip_all "no test set"
small_net 8 >"$T/net.net"
# Batches of 4, then of 3 microbatches, in steps of two shapes.
stages '0 0 2 0 16 2 16 4 0.01 0 0' '1 2 4 0 12 2 20 4 0.02 0 0' >"$T/s.tsv"

# train DIR [OPTION]...
train() {
	dir=$1
	shift
	timeout -k 5 120 $launch "$BUILD/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$dir" --seed 7 \
		-q -j 1 --device ref "$@"
}
# on RANKS: set the number of ranks of "train".
on() {
	launch=
	[ "$1" = 1 ] || launch="mpirun -np $1"
}
# bytes FILE TENSOR: print the hash of its values.
bytes() {
	# shellcheck disable=SC2046
	set -- "$1" $(od -An -tu8 -N8 "$1") $(header "$1" | jq -r ".[\"$2\"].data_offsets[]")
	tail -c +$((9 + $2 + $3)) "$1" | head -c $(($4 - $3)) | md5sum
}
# weights DIR: print the hash of each tensor of the network, without optimizer
# state.
weights() {
	header "$T/$1/final.safetensors" | jq -r '.__metadata__["vt.tensors"] | fromjson | to_entries[] |
		select(.key | test("^(model|bn)/")) | "\(.key) \(.value)"'
}
on 1
check "sgd" train sgd
for optimizer in lars lars-outside adamw lamb; do
	options="--optimizer=$optimizer --trust-coefficient=0.02 --ema=0.9 --loss-scale=dynamic"
	# shellcheck disable=SC2086
	check_exit "$optimizer trains" 0 train $optimizer $options
	check "$optimizer ends with another loss than sgd" \
		test "$(jq -r 'select(.type == "step").loss' "$T/$optimizer/log.jsonl" | tail -1)" != \
		"$(jq -r 'select(.type == "step").loss' "$T/sgd/log.jsonl" | tail -1)"
	if ! have_mpi; then
		skip "$optimizer on more ranks" "no mpirun, or built without MPI"
		continue
	fi
	for ranks in 3 2 1; do
		on $ranks
		# shellcheck disable=SC2086
		train $optimizer-more $options --shard-optimizer --stop-after 0.001s >/dev/null 2>"$T/err"
		got=$?
		[ $got = 75 ] || diag "$ranks ranks: exit $got: $(head -3 "$T/err")"
	done
	on 3
	# shellcheck disable=SC2086
	check_exit "$optimizer, stopped after a step on 3, 2 and 1 ranks, ends on 3" 0 \
		train $optimizer-more $options
	check "$optimizer: the stopped run gives the same file" same $optimizer $optimizer-more
done
on 1
check_same "the state of adamw for a parameter" "ema model optim/exp_avg optim/exp_avg_sq" \
	"$(header "$T/adamw/final.safetensors" | jq -r keys[] | sed -n 's,/fc.weight$,,p' | tr '\n' ' ' | sed 's/ $//')"

# ---- fp16, and a loss scale that is too large ----

half="--optimizer=lamb --precision=fp16 --ema=0.5 --clip-value=1"
# shellcheck disable=SC2086
check_exit "fp16 trains on ref" 0 train half $half
check_same "fp16 has a dynamic loss scale" 65536 \
	"$(jq -r 'select(.type == "step").loss_scale' "$T/half/log.jsonl" | tail -1)"
if have_mpi; then
	# Killed repeatedly while it saves, and resumed on other numbers of
	# ranks.
	for ranks in 2 3 4 2; do
		on $ranks
		# shellcheck disable=SC2086
		train half-killed $half --save-steps 1 >/dev/null 2>&1 &
		pid=$!
		victim=$(rank_pid $pid $((ranks - 1)))
		sleep 0.1
		kill -9 "$victim" 2>/dev/null
		wait $pid
	done
	on 3
	# shellcheck disable=SC2086
	check_exit "fp16, killed on 2, 3, 4 and 2 ranks, ends on 3" 0 train half-killed $half
	check "fp16: the killed run gives the same file" same half half-killed
	# With --deterministic=fast, each rank keeps all optimizer state, or a
	# shard.
	on 2
	free="--optimizer=lamb --ema=0.9 --use-ema --val=$T/val --deterministic=fast --allreduce=ring"
	# shellcheck disable=SC2086
	check_exit "--deterministic=fast with all state on each rank" 0 train fast $free
	# shellcheck disable=SC2086
	check_exit "--deterministic=fast with --shard-optimizer" 0 train fast-shard $free --shard-optimizer
	check "--shard-optimizer gives the same file" same fast fast-shard
	# shellcheck disable=SC2086
	kept=$(for option in "" --shard-optimizer; do train x -n $free $option | sed -n 's/^# exp_avg  *\([0-9.]*\) .*/\1/p'; done | xargs)
	# In so small a network, rank 0 owns no whole block.
	check "--shard-optimizer plans less state on a rank" \
		awk -v s="$kept" 'BEGIN { exit !(split(s, k, " ") == 2 && k[2] < 0.9 * k[1]) }'
else
	skip "kills in fp16" "no mpirun, or built without MPI"
fi
on 1
check_message "a fixed loss scale that is too large for fp16 ends with 5" 5 "the gradient's norm is (inf|-?nan)" \
	train hot --precision=fp16 --loss-scale=1e9
check_exit "a fixed loss scale in fp32" 0 train scaled --loss-scale=4096
check_same "a loss scale in fp32 changes no weight" "$(weights sgd)" "$(weights scaled)"

# ---- a learning rate that is too high ----

stages '0 0 8 0 8 2 16 4 4 0 0' >"$T/hot.tsv"
stages '0 0 8 0 8 2 16 4 0.01 0 0' >"$T/calm.tsv"
for rate in hot calm; do
	vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/$rate.tsv" -o "$T/rate-$rate" --seed 7 --device ref \
		--log-every 1 >"$T/$rate.table" 2>"$T/$rate.said"
done
# The largest mean of 20 consecutive steps, starting at step 1 or 21.
worst=$(jq -rs '[.[] | select(.type == "step").loss] | [.[:20], .[20:40]] | map(add / length) | max' "$T/rate-hot/log.jsonl")
check "a high learning rate gives a loss above a guess among 8 classes" \
	awk -v l="$worst" 'BEGIN { exit !(l > 1.1 * log(8)) }'
check_same "one warning says that the learning rate may be too high" 1 \
	"$(grep -c 'warning: steps .* a uniform guess has 2.08: the learning rate may be too high' "$T/hot.said")"
check_same "a run that learns prints no warning" "" "$(grep 'a guess' "$T/calm.said")"

# ---- the moving average: validated, scored, exported ----

check_exit "a run that validates the last weights" 0 train last --ema=0.9 --val "$T/val" --log-every 1
check_exit "a run that validates their moving average" 0 \
	train average --ema=0.9 --use-ema --val "$T/val" --log-every 1
check_same "--use-ema trains the same steps" \
	"$(jq -r 'select(.type == "step") | [.loss, .grad_norm] | @tsv' "$T/last/log.jsonl")" \
	"$(jq -r 'select(.type == "step") | [.loss, .grad_norm] | @tsv' "$T/average/log.jsonl")"
loss() {
	jq -r 'select(.type == "validation").loss' "$T/$1/log.jsonl" | tail -1
}
check "--use-ema gives another validation loss" test "$(loss last)" != "$(loss average)"
scored() {
	dir=$1
	shift
	vt-eval -k "$T/$dir/final.safetensors" -i "$T/val" --device ref -j 1 --json "$@" 2>"$T/err" |
		sed -n 's/.*"loss":\([^,]*\),.*"top1".*/\1/p'
}
check_same "vt-eval --use-ema scores the moving average" \
	"$(loss average | cut -c1-8)" "$(scored last --use-ema | cut -c1-8)"
check_same "vt-eval without --use-ema scores the last weights" \
	"$(loss last | cut -c1-8)" "$(scored average | cut -c1-8)"
for which in model ema; do
	option=
	[ $which = model ] || option=--use-ema
	# shellcheck disable=SC2086
	check_exit "$which: the weights are exported" 0 \
		vt-train -q --export="$T/$which" --names=torchvision --output="$T/last" $option
	prefix=$which
	[ $which = ema ] || prefix=bn
	check_same "$which: the export has the weights and statistics of the checkpoint" \
		"$(bytes "$T/last/final.safetensors" $which/fc.weight) $(bytes "$T/last/final.safetensors" $prefix/bn1.running_var)" \
		"$(bytes "$T/$which" fc.weight) $(bytes "$T/$which" bn1.running_var)"
done
check "the two exports differ" test "$(bytes "$T/model" fc.weight)" != "$(bytes "$T/ema" fc.weight)"
check_message "exporting a moving average that the run lacks ends with 2" 2 \
	'sgd/final.safetensors: has no moving average' \
	vt-train --export="$T/no" --names=torchvision --output="$T/sgd" --use-ema
check_message "scoring a moving average that the run lacks ends with 2" 2 \
	'has no moving average of the weights \(vt-train --ema=DECAY keeps one\)' \
	vt-eval -k "$T/sgd" -i "$T/val" --device ref --use-ema
# ---- refusals ----

check_message "--nesterov with adamw ends with 2" 2 'it is for sgd' train no --optimizer=adamw --nesterov
check_message "--trust-clip with sgd ends with 2" 2 'it is for lars, lars-outside and lamb' train no --trust-clip
check_exit "--clip-grad with --clip-value ends with 2" 2 train no --clip-grad=1 --clip-value=1
check_exit "--use-ema without --ema ends with 2" 2 train no --use-ema
for bad in 0.5 x 2e9 ''; do
	check_exit "--loss-scale=$bad ends with 2" 2 train no --loss-scale="$bad"
done
check_message "an unknown optimizer ends with 2" 2 'lars-outside' train no --optimizer=adam
check "refused runs make no folder" test ! -e "$T/no"

# ---- resuming with another optimizer ----

check_message "resuming with another optimizer is refused" 2 'optimizer was sgd and is lamb now' \
	train sgd --optimizer=lamb
sed 's/1	2	4/1	2	5/' "$T/s.tsv" >"$T/longer.tsv" && mv "$T/longer.tsv" "$T/s.tsv"
check_exit "--override=optimizer initializes the new optimizer's state" 0 \
	"$BUILD/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" \
	-o "$T/sgd" --seed 7 -j 1 --device ref --optimizer=lamb --override=optimizer
check_says "a message names the initialized state" 'has no optim/exp_avg, which is initialized'
check_exit "validating the average does not change the run" 0 train last --ema=0.9 --use-ema --val "$T/val"

# ---- optimizer state in the plan ----

on 1
one=$(train x -n --optimizer=adamw --ema=0.9 | awk '/^# (exp_avg|exp_avg_sq|ema) / { n++ } END { print n + 0 }')
check_same "the plan of adamw with --ema has three lines of state" 3 "$one"
plan
