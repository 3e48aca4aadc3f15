#!/bin/sh
# A step that is not finite ends the run before its update or is skipped, alike
# at every number of ranks and after a stop. The clips of such a step are
# listed. Ranks whose weights differ save nothing and name the rank.
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

options=
check "a run without a limit" train plain
# Not the first step, but the step with the largest loss after it.
worst=$(log plain step | jq -s -r '.[1:] | max_by(.loss) | .step')
# The limit lies between the second and the third largest loss.
limit=$(log plain step | jq -s -r '[.[].loss] | sort | .[-2] - 1e-7')

options="--max-loss $limit --trace-samples $T/trace"
check_message "a step beyond --max-loss ends with 5" 5 "the run has diverged" train stopped env
step=$(($(vt-train --status "$T/stopped" | jq .step) + 1))
file=$T/stopped/nan-$(printf %010d $step).tsv
check_same "the clips of the step are listed with their keys" \
	"$(awk -v s=$((step - 1)) '$1 == s { print $2 "\t" $3 }' "$T/trace")" "$(grep -v '^#' "$file" | cut -f5,6)"
check_same "the loss of each microbatch is listed" "6" "$(grep -v '^#' "$file" | cut -f3,4 | sort -u | wc -l)"

options="--max-loss $limit --on-nan skip:3"
check_message "--on-nan=skip continues" 0 "warning: step $step: the loss is .*it is skipped .1 of 3" train skipped env
check_same "the log has the skipped step" "$step" "$(log skipped skip | head -1 | jq .step)"
check_same "skipped steps count as steps" 10 "$(log skipped step | wc -l)"
n=$(log skipped skip | wc -l)
check "a skipped step changes the weights" \
	sh -c "! cmp -s '$T/plain/final.safetensors' '$T/skipped/final.safetensors'"
if have_mpi; then
	for np in 2 3; do
		check_exit "$np ranks skip the step" 0 train skipped-$np mpirun -np $np
		check "$np ranks that skip the step have the same weights" \
			cmp "$T/skipped/final.safetensors" "$T/skipped-$np/final.safetensors"
	done
fi
options="$options --save-steps 1 --keep 20 -q"
options="$options --stop-after 0.001s"
check_exit "a run that skips is stopped" 75 train again env
until train again env >"$T/out"; do [ $? = 75 ] || break; done
check "a run that is stopped and resumed has the same weights" \
	cmp "$T/skipped/final.safetensors" "$T/again/final.safetensors"
if [ "$n" -gt 1 ]; then
	options="--max-loss $limit --on-nan skip:1"
	check_message "more steps than allowed end with 5" 5 "1 steps were skipped already" train more env
else
	options="--max-loss 0.0001 --on-nan skip:4"
	check_exit "more steps than allowed end with 5" 5 train more env
	check_same "exactly four steps are skipped" 4 "$(log more skip | wc -l)"
fi
options="--on-nan skip:0"
check_message "--on-nan=skip:0 ends with 2" 2 "wanted fail or skip:K" train other env

# A real divergence: the update before it moves the weights far away.
stages '0 0 3 0 12 2 16 2 1000000 0 0' >"$T/s.tsv"
options="--on-nan skip:2"
check_exit "a run that really diverges ends with 5 after two skips" 5 train far env
check_same "no skipped step was an update" \
	"$(log far skip | jq -r .step | tail -1)" "$(vt-train --status "$T/far" | jq .step)"
stages '0 0 3 0 12 2 16 2 0.01 0 0' >"$T/s.tsv"

# ---- weights that differ between ranks ----

if have_mpi; then
	for rank in 0 2; do
		options="--save-steps 3"
		VT_FLIP_BIT=6:$rank:w check_exit "a bit of the weights of rank $rank flips: ends with 6" 6 train apart-$rank mpirun -np 3
		good=$((rank == 0))
		check_says "rank $rank: the message names rank, host and tensor" \
			"after step 6, rank $rank on $(uname -n) has another [a-z0-9.]*weight than rank $good on"
		check_same "rank $rank: the wrong weights are not saved" 3 \
			"$(vt-train --status "$T/apart-$rank" | jq .step)"
	done
	rm -f "$T/apart-2/log.jsonl"
	options=
	check_exit "the run resumes from the last good checkpoint" 0 train apart-2 mpirun -np 2
	check "the resumed run ends with the weights of an undisturbed run" \
		cmp "$T/plain/final.safetensors" "$T/apart-2/final.safetensors"
else
	skip "weights that differ between ranks" "no MPI"
fi

plan
