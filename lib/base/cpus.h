#ifndef BASE_CPUS_H
#define BASE_CPUS_H

#include <stdint.h>

/*
 * cpus():
 * Return the number of processors that this process may use: those of its
 * affinity mask, but at most the quota of its control groups, rounded down, and
 * at least 1.
 * cpus_text(text):
 * Write "2 processors", or "2 processors, 1 by quota", to ${text} of 64 bytes.
 * Return ${text}.
 */
int cpus(void);
char *cpus_text(char *text);

/*
 * cpus_quota(root, group):
 * Return the processors that the CPU quotas of the control groups allow, or -1
 * if they have none.  ${root} and ${group} are those of cgroup_least.
 */
double cpus_quota(const char *root, uint64_t *group);

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
