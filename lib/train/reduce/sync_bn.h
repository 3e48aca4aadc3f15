#ifndef TRAIN_REDUCE_SYNC_BN_H
#define TRAIN_REDUCE_SYNC_BN_H

/*
 * Synchronized BN: BN groups whose clips several ranks hold (sched/parts.h).
 * The ranks of a group form a BN process group, with a communicator for each
 * number of parts in the schedule.  Their statistics are doubles, which are
 * added in the order of ranks.
 */

#include "backend/backend.h"
#include "comm/comm.h"

struct sync_bn_group;

/* The BN process groups of a rank.  Initialize it with zeros. */
struct sync_bn {
	struct sync_bn_group *list;	/* NULL: no group spans ranks */
	double waited;			/* seconds in sums, since the caller
					 * reset it */
};

/*
 * sync_bn_group(s, parts): return the BN process group of groups in ${parts}
 * parts, NULL if ${parts} is 1.  It belongs to ${s}.  Call it before
 * sync_bn_open, which connects all groups that were requested.
 */
const struct peers *sync_bn_group(struct sync_bn *s, int parts);

/*
 * sync_bn_open(s, c, d, channels):
 * Connect the process groups of ${s} over the ranks of ${c}, for normalization
 * layers of up to ${channels} channels on devices like ${d}.  ${d} must outlive
 * ${s}.  sync_bn_close frees the groups.  Return 0, or -1 after a message.
 * Collective: all ranks of ${c} call it.
 */
int sync_bn_open(struct sync_bn *s, struct comm *c, struct device *d,
    size_t channels);
void sync_bn_close(struct sync_bn *s);

/*
 * sync_bn_agree(p, status): return the largest exit status of the process
 * group, or ${status} if ${p} is NULL. Return EXIT_RANKS after a message if a
 * rank cannot be reached. Collective: all ranks of the group call it.
 */
int sync_bn_agree(const struct peers *p, int status);

#endif
