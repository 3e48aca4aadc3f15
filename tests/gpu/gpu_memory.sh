#!/bin/sh
# Device memory runs out at each allocation of a run in turn: the run prints a
# message, ends with status 1, and frees everything once.  The cuda back end runs
# without a GPU.
# tests/run: weight 3
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 24 8 40 32 1 || skip_all "no test set"
small_net 8 8 0.5 >"$T/net.net"
stages '0 0 1 0 12 2 16 2 1 0 0' >"$T/s.tsv"
# train ALLOCATIONS: train learners, each with its optimizer and trust ratios
train() {
	rm -rf "$T/run"
	STANDIN_ALLOCS=$1 timeout -k 5 60 "$BUILD/gpu/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" \
		-o "$T/run" --device ref -j 1 -q --learners 2 --average-every 1 --optimizer lars >/dev/null 2>"$T/err"
}

n=0 other=
while train $n; status=$?; [ $status != 0 ] && [ $n -lt 100 ]; do
	[ $status = 1 ] && grep -q 'error: ' "$T/err" || other="$other $n:$status"
	n=$((n + 1))
done
check_same "a run with enough memory succeeds" 0 $status
check "the run allocates device memory at least 15 times" test $n -ge 15
check_same "a run with a failed allocation exits with 1 after a message" "" "$other"

# A run estimates its time first.  If that runs out of memory, only the run reports it.
stages '0 0 60 0 4 2 16 4 0.01 0 0' >"$T/long.tsv"
n=0 twice=
until [ $n = 40 ] || grep -q 'note: .* for [0-9]* steps' "$T/err"; do
	rm -rf "$T/run"
	STANDIN_ALLOCS=$n timeout -k 5 60 "$BUILD/gpu/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/long.tsv" \
		-o "$T/run" --device ref -j 1 >/dev/null 2>"$T/err"
	[ -z "$(sort "$T/err" | uniq -d)" ] || twice="$twice $n"
	n=$((n + 1))
done
check "with some memory the run estimates its time" test $n -lt 40 -a $n -gt 4
check_same "with less memory no message is printed twice" "" "$twice"
plan
