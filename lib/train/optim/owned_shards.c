/* The elements that a rank owns, as tables of shards. */
#include <stdlib.h>

#include "base/mem.h"
#include "train/optim/owned_shards.h"
#include "train/optim/running.h"

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
