#!/bin/sh
# Asynchronous SGD (tests/tools/async), which K-step averaging is compared with: with one
# learner it is synchronous SGD, on ranks it is what one process computes, and no gradient
# is staler than the bound.
# shellcheck disable=SC2086 # $async is a command and its options
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 48 8 40 32 1 || skip_all "no test set"
small_net 8 8 >"$T/net.net"
# 24 steps of 4 microbatches
stages '0 0 4 0 8 2 16 2 0.05 0 0' >"$T/s.tsv"
stages '0 0 4 0 8 2 16 2 0.05 0 0' '1 4 8 0 8 2 16 2 0.05 0 0' >"$T/longer.tsv"

# train DIR PROGRAM [OPTION]...: train on $np ranks.
train() {
	dir=$1 command=$2
	shift 2
	on_ranks "$BUILD/$command" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$dir" --device ref -j 1 \
		--seed 7 -q "$@"
}
# weights DIR: print the hashes of its last weights and statistics, without the optimizer
# state, which only the server has.
weights() {
	"$BUILD/tests/tools/weightdump" "$T/$1/final.safetensors" | grep -E '^(model|bn)/'
}
# stalest: print the largest staleness that the last run has reported.
stalest() {
	sed -n 's/^async.*max //p' "$T/err"
}
# The learners wait for each other every 6 steps.
async="tests/async/vt-train --average-every=6"

check "synchronous SGD" train plain vt-train
check_exit "one asynchronous learner" 0 train one $async --learners=1
check_same "it makes the weights of synchronous SGD" "$(weights plain)" "$(weights one)"
check_same "its gradients are not stale" 0 "$(stalest)"
ASYNC_BOUND=5 check_exit "four learners in one process, bound 5" 0 train stale $async --learners=4
check_same "their gradients are as stale as the bound" 5 "$(stalest)"
check_exit "two learners in one process" 0 train two $async --learners=2
check_same "each is as stale as there are other learners" 1 "$(stalest)"
weights two >"$T/two.weights"
ASYNC_BOUND=3 check_exit "staleness needs weights of this start: a run is not resumed" 2 \
	train two $async --learners=2 --override=schedule --schedule="$T/longer.tsv"
if have_mpi; then
	np=2
	ASYNC_TURNS=1 check_exit "two learners on two ranks, in turns" 0 train ranks $async --learners=2
	check_same "they make the weights of one process" "$(cat "$T/two.weights")" "$(weights ranks)"
	# The last learner makes a step in the time of many of the first.
	for bound in 3 100; do
		ASYNC_BOUND=$bound ASYNC_DELAY=0.2 check_exit "in order of arrival with a slow learner, bound $bound" 0 \
			train slow$bound $async --learners=2
		stalest >"$T/stalest$bound"
	done
	check_same "the gradients of a slow learner are as stale as the bound" 3 "$(cat "$T/stalest3")"
	check "without the bound they are staler" test "$(cat "$T/stalest100")" -gt 3
else
	skip "learners on ranks" "no MPI"
fi
plan
