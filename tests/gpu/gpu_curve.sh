#!/bin/sh
# The losses of training runs agree with tests/gpu/contact/curves.tsv, which holds those of
# the cpu back end in fp32: step by step at first, then in the mean of each tenth of the
# run.  The test compares this build's cpu back end, and the cuda back end on the stand-in
# in each precision.  MAKE_CURVES=yes writes the table instead.
# tests/run: weight 50
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
. tests/gpu/contact/curves

# cpu RUN: print the losses of RUN on the cpu back end
cpu() {
	curve_run "$1" "$T/set" "$T/cpu-$1" vt-train --device cpu
}
if [ "${MAKE_CURVES-}" = yes ]; then
	cpu short && cpu whole || { cat "$T"/*.err >&2; exit 1; }
	{
		printf '#run\tstep\tloss\n'
		for run in short whole; do
			awk -v run=$run '{ print run "\t" NR "\t" $1 }' "$T/cpu-$run"
		done
	} >tests/gpu/contact/curves.tsv
	exit
fi

# same NAME RUN FIRST: check the losses of RUN in $T/NAME against the table
same() {
	said=$(curve_compare "$2" "$T/$1" "$3" 0.1)
	check_same "$1: the losses agree with the table" 0 "$?"
	diag "$said"
}
check "the long run of the table learns: its loss falls by a fifth" awk -F'\t' '$1 == "whole" { if ($2 <= 20) a += $3; if ($2 > 180) b += $3 }
	END { exit !(b < 0.8 * a) }' tests/gpu/contact/curves.tsv
for run in short whole; do
	if built oneDNN; then
		check_exit "a $run run on the cpu back end succeeds" 0 cpu $run
		same cpu-$run $run 1e-3
	else
		skip "a $run run on the cpu back end succeeds" "no oneDNN in this build"
	fi
done
for precision in fp32 bf16 fp16; do
	case $precision in fp32) first=1e-3 ;; *) first=5e-2 ;; esac
	check_exit "a short run in $precision on the cuda back end succeeds" 0 curve_run short "$T/set" "$T/$precision" \
		"$BUILD/gpu/vt-train" --device ref --precision $precision -j 2
	same $precision short $first
done
awk 'NR == 15 { print $1 * 1.5; next } { print $1 * (NR == 2 ? 1.01 : 1) }' "$T/fp32" >"$T/wrong"
check_same "a wrong loss is detected, and its step is named" 'in step 2 ' \
	"$(curve_compare short "$T/wrong" 1e-3 0.1 | sed -n 's/.*\(in step [0-9]* \).*/\1/p')"
awk 'NR > 10 { print $1 * 1.2; next } { print }' "$T/fp32" >"$T/wrong"
check_fails() {
	"$@" >"$T/out" && return 1 || return 0
}
check "a curve that departs from the table is detected" check_fails curve_compare short "$T/wrong" 1e-3 0.1
head -n 19 "$T/fp32" >"$T/wrong"
check "a curve that ends early is detected" check_fails curve_compare short "$T/wrong" 1e-3 0.1
plan
