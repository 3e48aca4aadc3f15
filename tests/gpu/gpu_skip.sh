#!/bin/sh
# Steps that are not finite where the device judges them itself, and leaves its
# weights alone before the host knows: counted, listed and logged as where the host
# looks first, to the same weights; when the run was stopped, and on two ranks, too.
# On the cuda back end without a GPU, where the loss is scaled so much that the
# gradients of some steps are too large for fp16.
# tests/run: weight 3
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 40 8 40 32 1 || skip_all "no test set"
small_net 8 8 0.5 >"$T/net.net"
stages '0 0 3 0 12 2 16 2 1 0 0' >"$T/s.tsv"
# train RUN OPTION...
train() {
	run=$1
	shift
	on_ranks timeout -k 5 120 "$BUILD/gpu/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$run" \
		--device ref -j 1 --log-every 1 --precision fp16 --loss-scale "$scale" "$@"
}
# skipped RUN: these steps
skipped() {
	jq -r 'select(.type == "skip") | .step' "$T/$1/log.jsonl" | tr '\n' ' '
}
digest() {
	"$BUILD/tests/tools/weightdump" "$T/$1/final.safetensors" "$T/all" >/dev/null 2>&1 || { echo "none of $1"; return; }
	head -c -256 "$T/all" | cksum
}

# Too much for some steps, but not for all; the first that is.
for scale in 80000 60000 40000 100000 130000; do
	rm -rf "$T/run"
	check_exit "with a scale of $scale --on-nan=skip goes on" 0 train run --on-nan skip:20 --trace-samples "$T/trace"
	steps=$(skipped run) n=$(skipped run | wc -w)
	[ "$n" -lt 2 ] || [ "$n" -gt 8 ] || break
done
check "over some steps" test "$n" -ge 2 -a "$n" -le 8
first=${steps%% *}
check_says "and says so" "warning: step $first: the gradient.s norm is (inf|nan|-nan): it is skipped \(1 of 20\)"
check_says "of each" "\($n of 20\)"
check_same "all steps are in the log" 10 "$(jq -c 'select(.type == "step")' "$T/run/log.jsonl" | wc -l)"
check_same "the clips of each one that was skipped are listed" "$n" "$(find "$T/run" -name 'nan-*.tsv' | wc -l)"
check_same "with their keys" "$(awk -v s=$((first - 1)) '$1 == s { print $2 "\t" $3 }' "$T/trace")" \
	"$(grep -v '^#' "$T/run/nan-$(printf %010d "$first").tsv" | cut -f5,6)"
check_same "and a loss, which is finite" 0 "$(cut -f4 "$T"/run/nan-*.tsv | grep -ci 'nan\|inf')"

# With --audit the host looks at a step before it is made.
check_exit "where the host judges" 0 train host --on-nan skip:20 --audit 1
check_same "the same steps are skipped" "$steps" "$(skipped host)"
check_same "to the same weights" "$(digest host)" "$(digest run)"
check_same "and the same clips are listed" "$(cat "$T"/run/nan-*.tsv)" "$(cat "$T"/host/nan-*.tsv)"

check_exit "one more than allowed ends the run with 5" 5 train more --on-nan skip:$((n - 1))
check_says "which is printed" "$((n - 1)) steps were skipped already, as --on-nan=skip:$((n - 1)) allows"
check_says "with what it was" 'the gradient.s norm is (inf|nan|-nan): the run has diverged'
last=$(echo "$steps" | awk '{ print $NF }')
check_same "at the step before it" $((last - 1)) "$(vt-train --status "$T/more" | jq .step)"
check "whose clips are listed" test -s "$T/more/nan-$(printf %010d "$last").tsv"
check_exit "so does the first, if none is allowed" 5 train none
check_same "before it" $((first - 1)) "$(vt-train --status "$T/none" | jq .step)"

# The count goes on where a run is stopped.
check_exit "a run" 0 train again --on-nan skip:20 --save-steps 1 --keep 20 -q
for i in $(seq "$last" 10); do
	rm "$T/again/ckpt-$(printf %010d "$i").safetensors"
done
rm "$T/again/final.safetensors" "$T/again/latest"
check_exit "that goes on before the last of them" 0 train again --on-nan skip:20
check_says "has counted those before" "step $last: .* is skipped \($n of 20\)"
check_same "to the same weights" "$(digest run)" "$(digest again)"

if have_mpi; then
	np=2
	check_exit "two ranks" 0 train ranks --on-nan skip:20
	check_same "skip the same" "$steps" "$(skipped ranks)"
	check_same "to the same weights" "$(digest run)" "$(digest ranks)"
	check_exit "and end alike" 5 train ranks-more --on-nan skip:$((n - 1))
	np=1
else
	skip "two ranks" "no MPI"
fi
plan
