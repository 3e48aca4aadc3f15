#ifndef TRAIN_OPTIM_PORTIONS_H
#define TRAIN_OPTIM_PORTIONS_H

/*
 * What a rank owns, as the tables that a device makes steps by: they follow from
 * the network, the groups of its parameters and who owns what, and stay the same
 * from step to step.
 */

#include "comm/segments.h"
#include "net/net.h"
#include "train/optim/groups.h"

struct portion_list { struct portion *item; size_t n, cap; };

struct portions {
	struct portion_list trained;	/* but for what is frozen */
	struct portion_list statistics;
	struct portion_list all;	/* both, frozen ones, and what lies
					 * between, as segments */
	struct layer *layer;		/* [params] */
	char *judged;			/* [params] enum judged */
};

/* portions_open(p, g, share, rule): nothing of these is kept but copies. */
void portions_open(struct portions *p, const struct graph *g,
    const struct segments *share, const struct group_rule *rule);
void portions_close(struct portions *p);

#endif
