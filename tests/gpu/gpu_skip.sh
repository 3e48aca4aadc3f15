#!/bin/sh
# Steps with non-finite gradients that the device itself skips, before the host knows, are
# counted, listed and logged as in a run in which the host checks first, and the weights are
# the same.  This also holds for a resumed run and for two ranks.  The cuda back end runs
# without a GPU, with a loss scale at which some gradients exceed the range of fp16.
# tests/run: weight 3
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 40 8 40 32 1 || skip_all "no test set"
small_net 8 8 0.5 >"$T/net.net"
stages '0 0 3 0 12 2 16 2 1 0 0' >"$T/s.tsv"
# train RUN OPTION...: train into $T/RUN
train() {
	run=$1
	shift
	on_ranks timeout -k 5 120 "$BUILD/gpu/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$run" \
		--device ref -j 1 --log-every 1 --precision fp16 --loss-scale "$scale" "$@"
}
# skipped RUN: print the numbers of the skipped steps
skipped() {
	jq -r 'select(.type == "skip") | .step' "$T/$1/log.jsonl" | tr '\n' ' '
}

# Find a scale that is too large for some steps but not for all.
for scale in 80000 60000 40000 100000 130000; do
	rm -rf "$T/run"
	check_exit "--on-nan=skip completes the run at a loss scale of $scale" 0 train run --on-nan skip:20 --trace-samples "$T/trace"
	steps=$(skipped run) n=$(skipped run | wc -w)
	[ "$n" -lt 2 ] || [ "$n" -gt 8 ] || break
done
check "the run skips some steps" test "$n" -ge 2 -a "$n" -le 8
first=${steps%% *}
check_says "a warning names the first skipped step" "warning: step $first: the gradient.s norm is (inf|nan|-nan): it is skipped \(1 of 20\)"
check_says "a warning counts each skipped step" "\($n of 20\)"
check_same "the log has all steps" 10 "$(jq -c 'select(.type == "step")' "$T/run/log.jsonl" | wc -l)"
check_same "each skipped step has a list of its clips" "$n" "$(find "$T/run" -name 'nan-*.tsv' | wc -l)"
check_same "the list has the keys of the clips" "$(awk -v s=$((first - 1)) '$1 == s { print $2 "\t" $3 }' "$T/trace")" \
	"$(grep -v '^#' "$T/run/nan-$(printf %010d "$first").tsv" | cut -f5,6)"
check_same "the list has finite losses" 0 "$(cut -f4 "$T"/run/nan-*.tsv | grep -ci 'nan\|inf')"

# With --audit the host checks a step before the update.
check_exit "a run in which the host checks succeeds" 0 train host --on-nan skip:20 --audit 1
check_same "device and host skip the same steps" "$steps" "$(skipped host)"
check_same "device and host give the same weights" "$(digest host)" "$(digest run)"
check_same "device and host list the same clips" "$(cat "$T"/run/nan-*.tsv)" "$(cat "$T"/host/nan-*.tsv)"

check_exit "one skipped step more than allowed ends the run with status 5" 5 train more --on-nan skip:$((n - 1))
check_says "the message names the limit of skipped steps" "$((n - 1)) steps were skipped already, as --on-nan=skip:$((n - 1)) allows"
check_says "the message names the non-finite norm" 'the gradient.s norm is (inf|nan|-nan): the run has diverged'
last=$(echo "$steps" | awk '{ print $NF }')
check_same "the run ends at the step before the non-finite one" $((last - 1)) "$(vt-train --status "$T/more" | jq .step)"
check "the clips of the last non-finite step are listed" test -s "$T/more/nan-$(printf %010d "$last").tsv"
check_exit "the first non-finite step ends a run that may skip none" 5 train none
check_same "that run ends at the step before the first non-finite one" $((first - 1)) "$(vt-train --status "$T/none" | jq .step)"

# A resumed run continues the count.
check_exit "a run that saves each step succeeds" 0 train again --on-nan skip:20 --save-steps 1 --keep 20 -q
for i in $(seq "$last" 10); do
	rm "$T/again/ckpt-$(printf %010d "$i").safetensors"
done
rm "$T/again/final.safetensors" "$T/again/latest"
check_exit "the run resumes before its last skipped step" 0 train again --on-nan skip:20
check_says "the resumed run counts the steps skipped before" "step $last: .* is skipped \($n of 20\)"
check_same "the resumed run gives the same weights" "$(digest run)" "$(digest again)"

if have_mpi; then
	np=2
	check_exit "two ranks train" 0 train ranks --on-nan skip:20
	check_same "two ranks skip the same steps" "$steps" "$(skipped ranks)"
	check_same "two ranks give the same weights as one" "$(digest run)" "$(digest ranks)"
	check_exit "two ranks end with status 5 after one skipped step too many" 5 train ranks-more --on-nan skip:$((n - 1))
	np=1
else
	skip "two ranks train" "no MPI"
fi
plan
