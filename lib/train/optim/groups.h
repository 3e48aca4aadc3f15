#ifndef TRAIN_OPTIM_GROUPS_H
#define TRAIN_OPTIM_GROUPS_H

/*
 * Groups of parameters with different factors on learning rate and weight
 * decay, and the elements of each that a rank owns.
 */

#include "comm/segments.h"
#include "graph/graph.h"
#include "net/net.h"

/* The factors of a group on learning rate and weight decay. */
struct group { double lr, decay; };

/*
 * A rule assigns each parameter to a group: weights, biases, and the scales and
 * offsets of normalization layers.  The classifier has groups of its own, and
 * so has a convolution that reads the stream flow.
 */
struct group_rule {
	const char *name;
	struct group weight, bias, norm, head_weight, head_bias, flow_weight,
	    flow_bias;
};

/*
 * The rules.
 * tsm: get_optim_policies of the TSM program: no decay of biases and norms,
 * twice the learning rate for biases, five and ten times for weight and bias of
 * the classifier, and also for a convolution that reads flow.
 * tsm-fine: the same without the classifier's factor of five (fine-tuning).
 * plain: decay of weights and biases, none of norms (PySlowFast).
 * all: decay of every parameter (torchvision, MMAction2 apart from TSM).
 */
extern const struct group_rule group_rules[];	/* ends with a NULL name */

/*
 * group_rule_find(name): return the rule called ${name}, or NULL after a
 * message.
 */
const struct group_rule *group_rule_find(const char *name);

/*
 * group_of(r, g, p): return the factors of parameter ${p} of ${g} by rule ${r}.
 */
struct group group_of(const struct group_rule *r, const struct graph *g,
    const struct param *p);

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
