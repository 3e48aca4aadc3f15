/* A rank's share of the processors of its host. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/fail.h"
#include "base/mem.h"
#include "comm/cores.h"

/*
 * Return the sum over the processors that rank ${rank} may run on of 1 /
 * (number of the host's ranks that may run there), but at most its share of the
 * quota.
 */
static double
cores_share_of(const struct rank_place *place, int n, int rank)
{
	const struct rank_place *me = &place[rank];
	double sum = 0, together = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		int ranks = 0;

		if (!CPU_ISSET(cpu, &me->cpus))
			continue;
		for (int r = 0; r < n; r++)
			ranks += strcmp(place[r].host, me->host) == 0 &&
			    CPU_ISSET(cpu, &place[r].cpus);
		sum += 1.0 / ranks;
	}
	for (int r = 0; r < n; r++)
		together += strcmp(place[r].host, me->host) == 0 &&
		    place[r].group == me->group;
	if (me->quota > 0)
		sum = fmin(sum, me->quota / together);
	return sum + 1e-6;		/* three thirds must make 1 */
}

int
cores_share(const struct rank_place *place, int n, int rank)
{
	double sum = cores_share_of(place, n, rank);

	return sum < 1 ? 1 : (int)sum;
}

/*
 * By default mpirun binds up to two ranks to one core each.  Its daemon, the
 * parent process, is not bound.
 */
static void
cores_warn_bound(const struct rank_place *place, int n)
{
	cpu_set_t used, all;

	if (getenv("OMPI_COMM_WORLD_SIZE") == NULL ||
	    sched_getaffinity(getppid(), sizeof(all), &all) != 0)
		return;
	CPU_ZERO(&used);
	for (int r = 0; r < n; r++)
		if (strcmp(place[r].host, place[0].host) == 0)
			CPU_OR(&used, &used, &place[r].cpus);
	if (2 * CPU_COUNT(&used) <= CPU_COUNT(&all))
		warning("mpirun has bound its ranks here to %d of %d "
		    "processors (--bind-to none lets them have all)",
		    CPU_COUNT(&used), CPU_COUNT(&all));
}

/*
 * Return every rank's place, which the caller frees, or NULL after a message.
 */
static struct rank_place *
cores_places(struct comm *c)
{
	struct rank_place mine, *all = xcalloc((size_t)c->size, sizeof(*all));

	/* The padding is sent, too. */
	memset(&mine, 0, sizeof(mine));
	gethostname(mine.host, sizeof(mine.host) - 1);
	/* It fails with more than CPU_SETSIZE processors; assume one. */
	if (sched_getaffinity(0, sizeof(mine.cpus), &mine.cpus) != 0)
		CPU_SET(0, &mine.cpus);
	mine.quota = fmax(cpus_quota("", &mine.group), 0);
	if (comm_allgather(c, &mine, sizeof(mine), all) == 0)
		return all;
	free(all);
	return NULL;
}

int
cores_threads(struct comm *c)
{
	struct rank_place *all = cores_places(c);
	int n = 1;

	if (all != NULL) {
		n = cores_share(all, c->size, c->rank);
		if (c->rank == 0)
			cores_warn_bound(all, c->size);
	}
	free(all);
	return n;
}

int
cores_enough(struct comm *c)
{
	struct rank_place *all = cores_places(c);
	int enough;

	if (all == NULL)
		return -1;
	enough = cores_share_of(all, c->size, c->rank) >= 1;
	free(all);
	return enough;
}

int
cores_hosts(struct comm *c, int *host)
{
	struct rank_place *all = cores_places(c);

	for (int r = 0; r < c->size && all != NULL; r++) {
		host[r] = 0;
		while (strcmp(all[host[r]].host, all[r].host) != 0)
			host[r]++;
	}
	free(all);
	return all != NULL ? 0 : -1;
}

int
cores_binding(struct comm *c, char *text, size_t size)
{
	struct rank_place *all = cores_places(c);
	int least = CPU_SETSIZE, largest = 0, shared = 0;

	if (all == NULL)
		return -1;
	for (int r = 0; r < c->size; r++) {
		int n = CPU_COUNT(&all[r].cpus);

		least = n < least ? n : least;
		largest = n > largest ? n : largest;
		for (int q = 0; q < r; q++) {
			cpu_set_t both;

			CPU_AND(&both, &all[r].cpus, &all[q].cpus);
			shared |= strcmp(all[r].host, all[q].host) == 0 &&
			    CPU_COUNT(&both) > 0;
		}
	}
	if (least == largest)
		snprintf(text, size, "%d processor%s a rank, %s", least,
		    least > 1 ? "s" : "", shared ? "shared by ranks" :
		    "its own");
	else
		snprintf(text, size, "%d to %d processors a rank, %s", least,
		    largest, shared ? "some shared by ranks" : "its own");
	free(all);
	return !shared;
}
