#ifndef TRAIN_REDUCE_SPREAD_H
#define TRAIN_REDUCE_SPREAD_H

/*
 * Synchronized BN: BN groups whose clips several ranks hold (sched/parts.h).
 * The ranks of a group form a BN process group, with a communicator for each
 * number of parts in the schedule.  Their statistics are doubles, which are
 * added in the order of ranks.
 */

#include "backend/backend.h"
#include "comm/comm.h"

struct spread_peers;

/* The BN process groups of a rank.  Initialize it with zeros. */
struct spread {
	struct spread_peers *list;	/* NULL: no group spans ranks */
	double waited;			/* seconds in sums, since the caller
					 * reset it */
};

/*
 * spread_peers(s, parts): return the BN process group of groups in ${parts}
 * parts, NULL if ${parts} is 1.  It belongs to ${s}.  Call it before
 * spread_open, which connects all groups that were requested.
 */
const struct peers *spread_peers(struct spread *s, int parts);

/*
 * spread_open(s, c, d, channels):
 * Connect the process groups of ${s} over the ranks of ${c}, for normalization
 * layers of up to ${channels} channels on devices like ${d}.  ${d} must outlive
 * ${s}.  spread_close frees the groups.  Return 0, or -1 after a message.
 * Collective: all ranks of ${c} call it.
 */
int spread_open(struct spread *s, struct comm *c, struct device *d,
    size_t channels);
void spread_close(struct spread *s);

/*
 * spread_agree(p, status): return the largest exit status of the process group,
 * or ${status} if ${p} is NULL.  Return EXIT_RANKS after a message if a rank
 * cannot be reached.  Collective: all ranks of the group call it.
 */
int spread_agree(const struct peers *p, int status);

#endif
