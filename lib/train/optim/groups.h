#ifndef TRAIN_OPTIM_GROUPS_H
#define TRAIN_OPTIM_GROUPS_H

/* Groups of parameters that take learning rate and weight decay differently. */

#include "graph/graph.h"

/* Factors on learning rate and decay for one kind of parameter. */
struct group { double lr, decay; };

/*
 * A rule says which group a parameter is in: weights, biases, and the scales
 * and offsets of normalisations; those of the classifier for themselves.
 */
struct group_rule {
	const char *name;
	struct group weight, bias, norm, head_weight, head_bias;
};

/*
 * tsm: as the TSM program's get_optim_policies: no decay on biases and norms,
 * twice the learning rate on biases, five and ten times on the classifier.
 * tsm-fine: the same without the classifier's five times (fine-tuning).
 * plain: decay on weights and biases, none on norms (PySlowFast).
 */
extern const struct group_rule group_rules[];	/* ends with a NULL name */

const struct group_rule *group_rule_find(const char *name);
struct group group_of(const struct group_rule *r, const struct param *p);

#endif
