/*
 * The table of rules: weight, bias, norm, head weight, head bias; weight and
 * bias of a convolution that reads flow.  Each has factors on learning rate and
 * decay.
 */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "train/optim/groups.h"

const struct group_rule group_rules[] = {
	{ "tsm", { 1, 1 }, { 2, 0 }, { 1, 0 }, { 5, 1 }, { 10, 0 }, { 5, 1 },
	    { 10, 0 } },
	{ "tsm-fine", { 1, 1 }, { 2, 0 }, { 1, 0 }, { 1, 1 }, { 2, 0 },
	    { 5, 1 }, { 10, 0 } },
	{ "plain", { 1, 1 }, { 1, 1 }, { 1, 0 }, { 1, 1 }, { 1, 1 }, { 1, 1 },
	    { 1, 1 } },
	{ NULL, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 },
	    { 0, 0 } }
};

const struct group_rule *
group_rule_find(const char *name)
{
	for (const struct group_rule *r = group_rules; r->name != NULL; r++)
		if (strcmp(r->name, name) == 0)
			return r;
	return fail_null("no rule %s for groups of parameters (wanted tsm, "
	    "tsm-fine or plain)", text_quote(name));
}

/* Return 1 if ${p} belongs to a convolution of optical flow. */
static int
group_reads_flow(const struct graph *g, const struct param *p)
{
	const struct op *op = &g->op[p->op], *from = op->nin > 0 ?
	    &g->op[op->in[0]] : NULL;

	return op->kind == OP_CONV && from->kind == OP_INPUT &&
	    strcmp(g->needs.stream[from->input.stream].name, STREAM_FLOW) == 0;
}

struct group
group_of(const struct group_rule *r, const struct graph *g,
    const struct param *p)
{
	switch (p->kind) {
	case PARAM_WEIGHT:
		return p->head ? r->head_weight : group_reads_flow(g, p) ?
		    r->flow_weight : r->weight;
	case PARAM_BIAS:
		return p->head ? r->head_bias : group_reads_flow(g, p) ?
		    r->flow_bias : r->bias;
	default:
		return r->norm;
	}
}
