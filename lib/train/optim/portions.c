/* The elements that a rank owns, as tables of shards. */
#include <stdlib.h>

#include "base/mem.h"
#include "train/optim/portions.h"
#include "train/optim/running.h"

/* Append ${p}, merged with the last shard if it continues that. */
static void
portions_add(struct portion_list *l, const struct portion *p)
{
	struct portion *last = l->n > 0 ? &l->item[l->n - 1] : NULL;

	if (last != NULL && last->of == p->of && last->at + last->n == p->at &&
	    last->held + last->n == p->held) {
		last->n += p->n;
		return;
	}
	l->item = array_room(l->item, l->n, &l->cap, sizeof(*l->item));
	l->item[l->n++] = *p;
}

/* Append the elements of parameter number ${i} that segment ${s} contains. */
static void
portions_add_param(struct portions *p, const struct graph *g,
    const struct segment *s, int i)
{
	const struct param *q = &g->param[i];
	size_t from = q->offset > s->at ? q->offset : s->at;
	size_t to = q->offset + q->count < s->at + s->n ? q->offset + q->count :
	    s->at + s->n;
	struct portion one = { .at = from, .n = to - from,
		.held = from - s->at + s->held, .of = (size_t)i,
		.factor = { p->layer[i].factor[0], p->layer[i].factor[1] } };

	if (from >= to || q->frozen)
		return;
	if (q->kind < PARAM_MEAN) {
		portions_add(&p->trained, &one);
		return;
	}
	/* Statistics are stored with the weights, not densely by owner. */
	one.held = one.at;
	running_factors(g, q, one.factor);
	portions_add(&p->statistics, &one);
}

void
portions_open(struct portions *p, const struct graph *g,
    const struct segments *share, const struct group_rule *rule)
{
	*p = (struct portions){ .layer = NULL };
	p->layer = xcalloc((size_t)g->nparam, sizeof(*p->layer));
	p->judged = xcalloc((size_t)g->nparam, 1);
	for (int i = 0; i < g->nparam; i++) {
		struct group group = group_of(rule, &g->param[i]);

		p->layer[i] = (struct layer){ { group.lr, group.decay },
			g->param[i].kind == PARAM_WEIGHT };
		p->judged[i] = (char)(g->param[i].frozen ? JUDGED_NOT :
		    g->param[i].kind >= PARAM_MEAN ? JUDGED_STATISTICS :
		    JUDGED_TRAINED);
	}
	for (int k = 0; k < share->n; k++) {
		const struct segment *s = &share->segment[k];

		if (s->rank != share->comm->rank)
			continue;
		portions_add(&p->all, &(struct portion){ .at = s->at, .n = s->n,
			.held = s->held, .factor = { 1, 1 } });
		for (int i = 0; i < g->nparam; i++)
			portions_add_param(p, g, s, i);
	}
}

void
portions_close(struct portions *p)
{
	free(p->trained.item);
	free(p->statistics.item);
	free(p->all.item);
	free(p->layer);
	free(p->judged);
	*p = (struct portions){ .layer = NULL };
}
