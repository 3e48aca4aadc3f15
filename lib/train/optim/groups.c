/*
 * The table of rules: weight, bias, norm, head weight, head bias; weight and
 * bias of a convolution that reads flow.  Each has factors on learning rate and
 * decay.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "train/optim/groups.h"
#include "train/optim/running.h"

const struct group_rule group_rules[] = {
	{ "tsm", { 1, 1 }, { 2, 0 }, { 1, 0 }, { 5, 1 }, { 10, 0 }, { 5, 1 },
	    { 10, 0 } },
	{ "tsm-fine", { 1, 1 }, { 2, 0 }, { 1, 0 }, { 1, 1 }, { 2, 0 },
	    { 5, 1 }, { 10, 0 } },
	{ "plain", { 1, 1 }, { 1, 1 }, { 1, 0 }, { 1, 1 }, { 1, 1 }, { 1, 1 },
	    { 1, 1 } },
	{ "all", { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 },
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
	    "tsm-fine, plain or all)", text_quote(name));
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

/* Append ${p}, merged with the last shard if it continues that. */
static void
owned_shards_add(struct owned_shard_list *l, const struct owned_shard *p)
{
	struct owned_shard *last = l->n > 0 ? &l->item[l->n - 1] : NULL;

	if (last != NULL && last->param == p->param &&
	    last->at + last->n == p->at &&
	    last->state_at + last->n == p->state_at) {
		last->n += p->n;
		return;
	}
	l->item = array_reserve(l->item, l->n, &l->cap, sizeof(*l->item));
	l->item[l->n++] = *p;
}

/* Append the elements of parameter number ${i} that segment ${s} contains. */
static void
owned_shards_add_param(struct owned_shards *p, const struct graph *g,
    const struct segment *s, int i)
{
	const struct param *q = &g->param[i];
	size_t from = q->offset > s->at ? q->offset : s->at;
	size_t to = q->offset + q->count < s->at + s->n ? q->offset + q->count :
	    s->at + s->n;
	struct owned_shard one = { .at = from, .n = to - from,
		.state_at = from - s->at + s->held, .param = (size_t)i,
		.factor = { p->layer[i].factor[0], p->layer[i].factor[1] } };

	if (from >= to || q->frozen)
		return;
	if (q->kind < PARAM_MEAN) {
		owned_shards_add(&p->trained, &one);
		return;
	}
	/* Statistics are stored with the weights, not densely by owner. */
	one.state_at = one.at;
	running_factors(g, q, one.factor);
	owned_shards_add(&p->statistics, &one);
}

void
owned_shards_open(struct owned_shards *p, const struct graph *g,
    const struct segments *share, const struct group_rule *rule)
{
	*p = (struct owned_shards){ .layer = NULL };
	p->layer = xcalloc((size_t)g->nparam, sizeof(*p->layer));
	p->check_kind = xcalloc((size_t)g->nparam, 1);
	for (int i = 0; i < g->nparam; i++) {
		struct group group = group_of(rule, g, &g->param[i]);

		p->layer[i] = (struct layer){ { group.lr, group.decay },
			g->param[i].kind == PARAM_WEIGHT };
		p->check_kind[i] = (char)(g->param[i].frozen ? CHECK_NONE :
		    g->param[i].kind >= PARAM_MEAN ? CHECK_STATISTICS :
		    CHECK_TRAINED);
	}
	for (int k = 0; k < share->n; k++) {
		const struct segment *s = &share->segment[k];

		owned_shards_add(&p->all, &(struct owned_shard){ .at = s->at,
			.n = s->n, .state_at = s->held, .factor = { 1, 1 } });
		for (int i = 0; i < g->nparam; i++)
			owned_shards_add_param(p, g, s, i);
	}
}

void
owned_shards_close(struct owned_shards *p)
{
	free(p->trained.item);
	free(p->statistics.item);
	free(p->all.item);
	free(p->layer);
	free(p->check_kind);
	*p = (struct owned_shards){ .layer = NULL };
}
