#ifndef BASE_CPUS_H
#define BASE_CPUS_H

/* cpus(): processors this process may run on. */
int cpus(void);

/*
 * launch_rank(size): the rank that mpirun or srun gave this process, 0 without
 * them, of ${*size}.  Known before MPI starts.
 */
int launch_rank(int *size);

/* split(n, rank, ranks, first): how many of ${n} things ${rank} gets, from
 * ${*first} on: floor(n r / P) to floor(n (r + 1) / P) - 1. */
int split(int n, int rank, int ranks, int *first);

/* split_parts(n, parts, rank, ranks, first): the same, but each rank gets whole
 * ones of ${parts} equal parts; 0 parts: split. */
int split_parts(int n, int parts, int rank, int ranks, int *first);

#endif
