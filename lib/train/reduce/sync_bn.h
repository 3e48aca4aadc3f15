#ifndef TRAIN_REDUCE_SYNC_BN_H
#define TRAIN_REDUCE_SYNC_BN_H

/*
 * Synchronized BN: BN groups whose clips several ranks hold (sched/group.h).
 * The ranks of a group form a BN process group, with a communicator for each
 * number of parts in the schedule.  Their statistics are doubles, which are
 * added in the order of ranks, by the devices (comm/fabric.h) or the hosts, to
 * the same bits.  Sums by the devices can be part of captured passes.
 */

#include "backend/backend.h"
#include "comm/comm.h"
#include "comm/fabric.h"

struct sync_bn_group;

/* The BN process groups of a rank.  Initialize it with zeros. */
struct sync_bn {
	struct sync_bn_group *list;	/* NULL: no group spans ranks */
	double waited;			/* seconds in sums by the host, since
					 * the caller reset it */
};

/*
 * sync_bn_group(s, parts): return the BN process group of groups in ${parts}
 * parts, NULL if ${parts} is 1.  It belongs to ${s}.  Call it before
 * sync_bn_open, which connects all groups that were requested.
 */
const struct peers *sync_bn_group(struct sync_bn *s, int parts);

/*
 * sync_bn_peers(s): return the number of peers with which the devices of all
 * groups of ${s} exchange messages if they sum.
 */
int sync_bn_peers(const struct sync_bn *s);

/*
 * sync_bn_open(s, c, d, fabric, channels):
 * Connect the process groups of ${s} over the ranks of ${c}, for normalization
 * layers of up to ${channels} channels on devices like ${d}.  The devices sum
 * by ${fabric}; if it is NULL, the hosts do.  Call it before passes with the
 * groups run.  ${d} and ${fabric} must outlive ${s}.  sync_bn_close frees the
 * groups.  Return 0, or -1 after a message.
 * Collective: all ranks of ${c} call both.
 */
int sync_bn_open(struct sync_bn *s, struct comm *c, struct device *d,
    const struct fabric_calls *fabric, size_t channels);
void sync_bn_close(struct sync_bn *s);

/*
 * sync_bn_wait(p): wait until the device has executed all passes with the
 * process group ${p}, so that later waits of the host do not depend on other
 * ranks.  End all ranks if one cannot be reached.  Do nothing if ${p} is NULL
 * or its sums wait on the host.
 */
void sync_bn_wait(const struct peers *p);

/*
 * sync_bn_agree(p, status): return the largest exit status of the process
 * group, or ${status} if ${p} is NULL. Return EXIT_RANKS after a message if a
 * rank cannot be reached. Collective: all ranks of the group call it.
 */
int sync_bn_agree(const struct peers *p, int status);

#endif
