/* Processors and ranks that a launcher gave to this process. */
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cgroup.h"
#include "base/cpus.h"
#include "base/mem.h"

/* Return the processors that a control group allows, or -1 if it has no limit:
 * "QUOTA PERIOD" or "max PERIOD" of version 2, two files of version 1. */
static double
cpus_quota_of(const char *folder)
{
	double quota = cgroup_number(folder, "cpu.cfs_quota_us", "");
	double period = cgroup_number(folder, "cpu.cfs_period_us", "");
	char *path = xprintf("%s/cpu.max", folder);
	FILE *f = fopen(path, "r");

	if (f != NULL && fscanf(f, "%lf %lf", &quota, &period) != 2)
		quota = -1;
	if (f != NULL)
		fclose(f);
	free(path);
	return quota > 0 && period > 0 ? quota / period : -1;
}

double
cpus_quota(const char *root, uint64_t *group)
{
	return cgroup_least(root, "cpu", cpus_quota_of, group);
}

/* Return the number of processors in the affinity mask. */
static int
cpus_affinity(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) :
	    1;
}

int
cpus(void)
{
	double quota = cpus_quota("", NULL);
	int n = cpus_affinity();

	return quota < 0 || quota >= n ? n : quota < 1 ? 1 : (int)quota;
}

char *
cpus_text(char *text)
{
	int n = cpus_affinity(), by_quota = cpus();
	int at = snprintf(text, 64, "%d processor%s", n, n == 1 ? "" : "s");

	if (by_quota < n)
		snprintf(text + at, 64 - (size_t)at, ", %d by quota", by_quota);
	return text;
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
