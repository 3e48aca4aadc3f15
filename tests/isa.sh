#!/bin/sh
# The kernels of the other instruction set: the operators and what is fused, as
# a machine with AVX2 only runs them.
# tests/run: weight 20
cd "${0%/*}/.." || exit 2
. tests/lib.sh
grep -q avx2 /proc/cpuinfo || skip_all "no AVX2 here"
for test in fuse ops; do
	check_exit "$test with AVX2" 0 env VT_ISA=avx2 "$BUILD/tests/$test"
	check_same "none fails" "" "$(grep '^not ok' "$T/out")"
done
plan
