#!/bin/sh
# A step that is not finite ends the run before its update, with its clips listed,
# or is skipped, alike at every number of ranks and after a stop; ranks whose
# weights differ save none, and say which rank it is.
# tests/run: weight 10
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 40 8 40 32 1 || skip_all "no test set"
small_net 8 8 0.3 >"$T/net.net"
stages '0 0 3 0 12 2 16 2 0.01 0 0' >"$T/s.tsv"
train() {
	dir=$1
	shift
	"$@" "$BUILD/${VT_FLIP_BIT:+tests/drill/}vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$dir" --device ref -j 1 \
		--log-every 1 $options
}
log() {
	jq -c "select(.type == \"$2\")" "$T/$1/log.jsonl"
}

options=
check "a run" train plain
# The step with the largest loss of all but the first is beyond the limit.
worst=$(log plain step | jq -s -r '.[1:] | max_by(.loss) | .step')
# The two largest; the limit lies between the second and the third.
limit=$(log plain step | jq -s -r '[.[].loss] | sort | .[-2] - 1e-7')

options="--max-loss $limit --trace-samples $T/trace"
check_exit "a step beyond --max-loss ends it with 5" 5 train stopped env
check_says "and says so" "the run has diverged"
step=$(($(vt-train --status "$T/stopped" | jq .step) + 1))
file=$T/stopped/nan-$(printf %010d $step).tsv
check_same "its clips are listed, with their keys" \
	"$(awk -v s=$((step - 1)) '$1 == s { print $2 "\t" $3 }' "$T/trace")" "$(grep -v '^#' "$file" | cut -f5,6)"
check_same "and with the loss of each microbatch" "6" "$(grep -v '^#' "$file" | cut -f3,4 | sort -u | wc -l)"

options="--max-loss $limit --on-nan skip:3"
check_exit "--on-nan=skip goes on" 0 train skipped env
check_says "and says so" "warning: step $step: the loss is .*it is skipped .1 of 3"
check_same "the step is in the log" "$step" "$(log skipped skip | head -1 | jq .step)"
check_same "all steps count" 10 "$(log skipped step | wc -l)"
n=$(log skipped skip | wc -l)
check "weights are others than without the limit" sh -c "! cmp -s '$T/plain/final.safetensors' '$T/skipped/final.safetensors'"
if have_mpi; then
	for np in 2 3; do
		check_exit "$np ranks skip it, too" 0 train skipped-$np mpirun -np $np
		check "with the same weights" cmp "$T/skipped/final.safetensors" "$T/skipped-$np/final.safetensors"
	done
fi
options="$options --save-steps 1 --keep 20 -q"
check_exit "a run is stopped" 75 train again env VT_STOP_AFTER=0.001s
until train again env VT_STOP_AFTER=0.001s >"$T/out"; do [ $? = 75 ] || break; done
check "and resumed until it is done has the same weights" cmp "$T/skipped/final.safetensors" "$T/again/final.safetensors"
if [ "$n" -gt 1 ]; then
	options="--max-loss $limit --on-nan skip:1"
	check_exit "no more than allowed are skipped" 5 train more env
	check_says "as is said" "1 steps were skipped already"
else
	options="--max-loss 0.0001 --on-nan skip:4"
	check_exit "no more than allowed are skipped" 5 train more env
	check_same "four" 4 "$(log more skip | wc -l)"
fi
options="--on-nan skip:0"
check_exit "--on-nan=skip:0" 2 train other env
check_says "is refused" "wanted fail or skip:K"

# A real one: the update before it throws the weights far off.
stages '0 0 3 0 12 2 16 2 1000000 0 0' >"$T/s.tsv"
options="--on-nan skip:2"
check_exit "a run that really diverges ends with 5 after two skips" 5 train far env
check_same "at no update" "$(log far skip | jq -r .step | tail -1)" "$(vt-train --status "$T/far" | jq .step)"
stages '0 0 3 0 12 2 16 2 0.01 0 0' >"$T/s.tsv"

# ---- replicas ----

if have_mpi; then
	for rank in 0 2; do
		options="--save-steps 3"
		VT_FLIP_BIT=6:$rank:w check_exit "a bit of the weights of rank $rank flips: 6" 6 train apart-$rank mpirun -np 3
		good=$((rank == 0))
		check_says "which is named, with its host and a tensor" "after step 6, rank $rank on $(uname -n) has another [a-z0-9.]*weight than rank $good on"
		check_same "and nothing of it is saved" 3 "$(vt-train --status "$T/apart-$rank" | jq .step)"
	done
	rm -f "$T/apart-2/log.jsonl"
	options=
	check_exit "the run goes on from there" 0 train apart-2 mpirun -np 2
	check "with the weights it would have had" cmp "$T/plain/final.safetensors" "$T/apart-2/final.safetensors"
else
	skip "replicas" "no MPI"
fi

plan
