#!/bin/sh
# A run through every cell of long and short cycles ends with the same bits on
# every number of ranks and threads, in each precision and on each back end,
# with and without stops in the cells.
# tests/run: weight 22
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 16 8 64 48 1 || skip_all "no test set"
# The cells of --policy=long+short: one epoch each, of two steps of four
# microbatches.
each_cell 8 >"$T/s.tsv"
cells=$(grep -vc '^#' "$T/s.tsv")
limit="timeout -k 5 300"
common="-i $T/train -m tsm_tiny --schedule $T/s.tsv --seed 3 --log-every 1 -qq"

# each NAME RANKS THREADS OPTIONS: make a run in folder NAME.
each() {
	name=$1 ranks=$2 threads=$3
	shift 3
	launch=
	[ "$ranks" = 1 ] || launch="mpirun -np $ranks"
	# shellcheck disable=SC2086
	$limit $launch "$BUILD/vt-train" $common -o "$T/$name" -j "$threads" "$@"
}

# same_bits WHAT OPTIONS: check that all numbers of ranks and threads give the same
# bits.
same_bits() {
	back=$1
	shift
	check_exit "$back: a run through $cells cells on one rank" 0 each one 1 1 "$@"
	check_same "$back: each cell made steps" "$cells" \
		"$(jq -r 'select(.type == "step") | "\(.frames)x\(.crop)"' "$T/one/log.jsonl" | sort -u | wc -l)"
	for ranks in $some_ranks; do
		for threads in 1 2; do
			[ "$ranks $threads" != "1 1" ] || continue
			if [ "$ranks" -gt 1 ] && ! have_mpi; then
				skip "$back: $ranks ranks" "no MPI"
				continue
			fi
			check_exit "$back: $ranks ranks of $threads threads" 0 each other "$ranks" "$threads" "$@"
			check "$back: $ranks ranks of $threads threads end with the same bits" \
				cmp "$T/one/final.safetensors" "$T/other/final.safetensors"
			rm -rf "$T/other"
		done
	done
	[ "$back" != ref ] || return
	check_exit "$back: a run is stopped after its first step" 75 each other 1 2 --stop-after 0.001s "$@"
	again=0 most=1
	! have_mpi || most=2
	while [ $again -lt 40 ] && ! [ -s "$T/other/final.safetensors" ]; do
		each other $((again % most + 1)) 1 --stop-after 0.001s "$@" >/dev/null 2>&1
		again=$((again + 1))
	done
	check "$back: a run that is stopped after each step ends with the same bits" \
		cmp "$T/one/final.safetensors" "$T/other/final.safetensors"
	rm -rf "$T/one" "$T/other"
}

some_ranks="1 2 3 4"
if built oneDNN; then
	same_bits "cpu, fp32"
	if vt-train --version -v | grep -q '^processor: avx512'; then
		same_bits "cpu, bf16" --precision bf16
	else
		skip "cpu, bf16" "no AVX-512 here"
	fi
else
	skip "cpu" "built without oneDNN"
fi
some_ranks="1 3"
small_net 8 8 0.3 >"$T/net.net"
same_bits ref --device ref -m "$T/net.net"
plan
