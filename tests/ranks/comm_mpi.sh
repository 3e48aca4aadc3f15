#!/bin/sh
# tests/unit/comm.c passes on MPI's communicator, on 2, 3 and 5 ranks.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
have_mpi || skip_all "no MPI"

for np in 2 3 5; do
	check_same "$np ranks: split, start, test and wait work" \
		"$(sed -n 's/^	{ "\(.*\)", .* },$/\1/p' tests/unit/comm.c)" \
		"$(timeout -k 5 300 mpirun -np $np "$BUILD/tests/comm" mpi 2>"$T/err" || cat "$T/err")"
done
plan
