#ifndef TRAIN_OPTIM_GROUPS_H
#define TRAIN_OPTIM_GROUPS_H

/*
 * Groups of parameters with different factors on learning rate and weight
 * decay.
 */

#include "graph/graph.h"

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

#endif
