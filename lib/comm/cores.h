#ifndef COMM_CORES_H
#define COMM_CORES_H

#include <sched.h>

#include "comm/comm.h"

/* The host and the processors of a rank. */
struct rank_place {
	char host[256];
	cpu_set_t cpus;
	double quota;			/* processors that its control group
					 * allows; 0: no limit */
	uint64_t group;			/* of this quota */
};

/*
 * cores_threads(c): return the number of threads that this rank should compute
 * with, at least 1. It is the number of processors that the rank may run on,
 * each divided by the number of the host's ranks that may run there, but at
 * most the CPU quota divided by the number of ranks in its control group. So it
 * does not matter whether the launcher binds ranks to sockets or cores, or does
 * not bind them. If Open MPI's default binding keeps the ranks of the first
 * host off at least half of its processors, rank 0 prints a warning. If the
 * exchange fails, return 1 after a message. Collective: all ranks call it.
 */
int cores_threads(struct comm *c);

/* cores_share(place, n, rank): return the same for rank ${rank} of place[n]. */
int cores_share(const struct rank_place *place, int n, int rank);

/*
 * cores_enough(c): return 1 if this rank's share of processors is at least one,
 * 0 if ranks must take turns, -1 after a message.  Collective: all ranks call
 * it.
 */
int cores_enough(struct comm *c);

/*
 * cores_hosts(c, host): set host[ranks] to the number of each rank's host,
 * which is the first rank on that host.  Return 0, or -1 after a message.
 * Collective: all ranks call it.
 */
int cores_hosts(struct comm *c, int *host);

/*
 * cores_binding(c, text, size): describe in ${text} how the ranks are bound to
 * processors, for example "1 processor a rank, its own".  Return 1 if no two
 * ranks share a processor, 0 if some do, -1 after a message.  Collective: all
 * ranks call it.
 */
int cores_binding(struct comm *c, char *text, size_t size);

#endif
