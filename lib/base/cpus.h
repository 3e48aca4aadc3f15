#ifndef BASE_CPUS_H
#define BASE_CPUS_H

/* cpus(): processors this process may run on. */
int cpus(void);

/*
 * launch_rank(size, local): the rank that mpirun or srun gave this process, 0
 * without them; ${*size} ranks in all and ${*local} on this host.  Known
 * before MPI starts.
 */
int launch_rank(int *size, int *local);

/* split(n, rank, ranks, first): how many of ${n} things ${rank} gets, from
 * ${*first} on: floor(n r / P) to floor(n (r + 1) / P) - 1. */
int split(int n, int rank, int ranks, int *first);

#endif
