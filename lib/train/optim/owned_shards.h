#ifndef TRAIN_OPTIM_OWNED_SHARDS_H
#define TRAIN_OPTIM_OWNED_SHARDS_H

/*
 * The elements that a rank owns, as tables of shards for the device's steps.
 * They depend only on the network, the parameter groups and the owners, and do
 * not change between steps.
 */

#include "comm/segments.h"
#include "net/net.h"
#include "train/optim/groups.h"

struct owned_shard_list { struct owned_shard *item; size_t n, cap; };

/* The tables of a rank. */
struct owned_shards {
	struct owned_shard_list trained;	/* owned, except frozen
						 * parameters */
	struct owned_shard_list statistics;	/* owned, except frozen ones */
	struct owned_shard_list all;	/* whole segments: both, frozen ones,
					 * and the padding between parameters */
	struct layer *layer;		/* [params] the factors of its group */
	char *check_kind;		/* [params] enum check_kind */
};

/*
 * owned_shards_open(p, g, share, rule): make the tables of this rank of
 * share->comm. The arguments may be freed afterwards. owned_shards_close frees
 * the tables.
 */
void owned_shards_open(struct owned_shards *p, const struct graph *g,
    const struct segments *share, const struct group_rule *rule);
void owned_shards_close(struct owned_shards *p);

#endif
