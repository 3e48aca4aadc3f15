#!/bin/sh
# The cpu back end's operators and fused operators pass with other instruction
# sets: as on a machine with AVX2 only, and as on one with AVX-512 but no AMX.
# tests/run: weight 8
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
grep -q avx2 /proc/cpuinfo || skip_all "no AVX2 here"
sets=avx2
grep -q amx_bf16 /proc/cpuinfo && sets="avx2 avx512"
for isa in $sets; do
	for test in fuse ops; do
		check_exit "$test passes with $isa" 0 env VT_ISA="$isa" "$BUILD/tests/$test" cpu
		check_same "$test with $isa: no check fails" "" "$(grep '^not ok' "$T/out")"
	done
done
for isa in base avx2; do
	check_exit "direct passes with $isa" 0 env VT_ISA="$isa" "$BUILD/tests/direct"
done
check_exit "vt-bench runs a step without AVX" 0 env VT_ISA=base "$BUILD/vt-bench" step \
	--model=tsm_tiny --shape=2x4x24 --runs=1 --warmup=1
plan
