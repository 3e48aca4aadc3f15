#ifndef TRAIN_OPTIM_PORTIONS_H
#define TRAIN_OPTIM_PORTIONS_H

/*
 * The elements that a rank owns, as tables of shards for the device's steps.
 * They depend only on the network, the parameter groups and the owners, and do
 * not change between steps.
 */

#include "comm/segments.h"
#include "net/net.h"
#include "train/optim/groups.h"

struct portion_list { struct portion *item; size_t n, cap; };

/* The tables of a rank. */
struct portions {
	struct portion_list trained;	/* owned, except frozen parameters */
	struct portion_list statistics;	/* owned, except frozen ones */
	struct portion_list all;	/* whole segments: both, frozen ones,
					 * and the padding between parameters */
	struct layer *layer;		/* [params] the factors of its group */
	char *judged;			/* [params] enum judged */
};

/*
 * portions_open(p, g, share, rule): make the tables of this rank of
 * share->comm.  The arguments may be freed afterwards.  portions_close frees
 * the tables.
 */
void portions_open(struct portions *p, const struct graph *g,
    const struct segments *share, const struct group_rule *rule);
void portions_close(struct portions *p);

#endif
