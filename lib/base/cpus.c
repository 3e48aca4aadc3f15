/* Processors and ranks that a launcher gave to this process. */
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cpus.h"

int
cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	return CPU_COUNT(&set);
}

/* Return the first of ${names} that the environment sets to a number, or
 * ${otherwise}. */
static int
cpus_from_environment(const char *const *names, int otherwise)
{
	for (; *names != NULL; names++) {
		const char *v = getenv(*names);

		if (v != NULL && *v >= '0' && *v <= '9')
			return atoi(v);
	}
	return otherwise;
}

/* Open MPI, MPICH (and Intel MPI) and Slurm, in this order: mpirun inside a
 * Slurm job sets its own variables, too. */
int
launch_rank(int *size)
{
	static const char *const sizes[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
		"SLURM_STEP_NUM_TASKS", NULL };
	static const char *const ranks[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK",
		"SLURM_PROCID", NULL };

	*size = cpus_from_environment(sizes, 1);
	if (*size < 1)
		*size = 1;
	return *size > 1 ? cpus_from_environment(ranks, 0) : 0;
}

/* In 64 bits, because n * rank may exceed 32. */
int
split(int n, int rank, int ranks, int *first)
{
	*first = (int)((int64_t)n * rank / ranks);
	return (int)((int64_t)n * (rank + 1) / ranks) - *first;
}

int
split_parts(int n, int parts, int rank, int ranks, int *first)
{
	int each, count;

	if (parts == 0)
		return split(n, rank, ranks, first);
	each = n / parts;
	count = split(parts, rank, ranks, first);
	*first *= each;
	return count * each;
}
