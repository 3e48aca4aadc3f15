#ifndef COMM_CORES_H
#define COMM_CORES_H

#include <sched.h>

#include "comm/comm.h"

/* Where a rank may run. */
struct place { char host[256]; cpu_set_t cpus; };

/*
 * cores(c): how many threads this rank should compute with: the processors it
 * may run on, each shared out among the ranks of the host that may run there
 * too; at least 1.  So it does not matter whether the launcher bound ranks to
 * sockets or cores, or let them all run everywhere.  All ranks must call it.
 * Where Open MPI was left to bind and keeps the ranks of a host off most of
 * what it has, rank 0 says so.
 */
int cores(struct comm *c);

/* cores_share(place, n, rank): the same for rank ${rank} of ${n}. */
int cores_share(const struct place *place, int n, int rank);

/*
 * cores_enough(c): 1 if this rank has a processor, or its share of several makes
 * one; 0 if ranks must take turns; -1 after a message.  All ranks must call it.
 */
int cores_enough(struct comm *c);

/*
 * cores_hosts(c, host): the number of each rank's host, which is that of the
 * first rank on it, into host[ranks]; -1 after a message.  All ranks must call
 * it.
 */
int cores_hosts(struct comm *c, int *host);

/*
 * cores_binding(c, text, size): how the ranks are bound to processors, for
 * people, into ${text}: "1 processor a rank, its own".  1 if no
 * processor is shared by two ranks, 0 if one is, -1 after a message.  All ranks
 * must call it.
 */
int cores_binding(struct comm *c, char *text, size_t size);

#endif
