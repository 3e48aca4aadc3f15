#ifndef BASE_CPUS_H
#define BASE_CPUS_H

/*
 * cpus():
 * Return the number of processors on which this process may run, by its
 * affinity mask.
 */
int cpus(void);

/*
 * launch_rank(size):
 * Return the rank that mpirun or srun gave this process in its environment, and
 * set ${*size} to the number of ranks.  Without a launcher, return 0 and set
 * ${*size} to 1.  It works before MPI starts.
 */
int launch_rank(int *size);

/*
 * split(n, rank, ranks, first):
 * Return how many of ${n} items belong to ${rank}, and set ${*first} to the
 * first one.  They are items floor(n r / P) to floor(n (r + 1) / P) - 1 for
 * rank r of P.
 */
int split(int n, int rank, int ranks, int *first);

/*
 * split_parts(n, parts, rank, ranks, first):
 * As split, but the ${n} items form ${parts} equal parts, and no part is
 * divided between ranks.  ${n} is a multiple of ${parts}.  If ${parts} is 0, as
 * split.
 */
int split_parts(int n, int parts, int rank, int ranks, int *first);

#endif
