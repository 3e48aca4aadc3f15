/* SGD with momentum over groups of parameters. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/text.h"
#include "train/optim.h"

const struct group_rule group_rules[] = {
	{ "tsm", { 1, 1 }, { 2, 0 }, { 1, 0 }, { 5, 1 }, { 10, 0 } },
	{ "tsm-fine", { 1, 1 }, { 2, 0 }, { 1, 0 }, { 1, 1 }, { 2, 0 } },
	{ "plain", { 1, 1 }, { 1, 1 }, { 1, 0 }, { 1, 1 }, { 1, 1 } },
	{ NULL, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } }
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

struct group
group_of(const struct group_rule *r, const struct param *p)
{
	switch (p->kind) {
	case PARAM_WEIGHT:
		return p->head ? r->head_weight : r->weight;
	case PARAM_BIAS:
		return p->head ? r->head_bias : r->bias;
	default:
		return r->norm;
	}
}

static void
sgd(const struct optim *o, struct device *d, const struct optim_part *p)
{
	struct update u = { .w = p->w, .m = p->state[0], .g = p->g, .n = p->n,
		.lr = p->lr, .momentum = o->momentum, .decay = p->decay,
		.scale = p->scale, .nesterov = o->nesterov };

	device_update(d, &u);
}

const struct optimizer optimizers[] = {
	{ "sgd", { { "optim/momentum", SLOT_ELEMENT, SLOT_REAL, 0 } }, sgd },
	{ NULL, { { NULL, SLOT_ELEMENT, SLOT_REAL, 0 } }, NULL }
};

int
optim_open(struct optim *o, const struct net *n, const struct segments *share)
{
	if (o->kind == NULL)
		o->kind = optimizers;
	o->share = share;
	if (share == NULL) {
		o->self = comm_self();
		segments_open(&o->alone, o->self, n->graph->elements,
		    n->graph->elements + 1);
		o->share = &o->alone;
	}
	tiles_open(&o->tiles, n->graph, o->share);
	return slots_open(&o->slots, o->kind->slot, n, o->share);
}

void
optim_close(struct optim *o)
{
	slots_close(&o->slots);
	tiles_close(&o->tiles);
	segments_close(&o->alone);
	comm_free(o->self);
	o->self = NULL;
}

static void *
element(const struct net *n, const void *flat, size_t i)
{
	return (char *)flat + i * n->device->elem;
}

int
optim_finite(struct optim *o, const struct net *n)
{
	int64_t bad;

	/* Weights and statistics are the same on all ranks: each looks at its
	 * own part. */
	tiles_own(&o->tiles, n->device, n->w);
	bad = !tiles_finite(&o->tiles) || !slots_finite(&o->slots);
	return comm_max(o->share->comm, &bad) != 0 ? -1 : !bad;
}

/* Elements ${from} to ${to} - 1 of a parameter, which are kept at ${held}. */
static void
update(const struct optim *o, struct net *n, const struct param *p,
    const void *g, size_t from, size_t to, size_t held, double lr, double scale)
{
	struct group group = group_of(o->rule, p);
	struct optim_part part = { .param = p, .n = to - from,
		.w = element(n, n->w, from), .g = element(n, g, from),
		.lr = lr * group.lr, .decay = o->decay * group.decay,
		.scale = scale };

	for (int i = 0; i < o->slots.n; i++) {
		const struct slot *slot = &o->slots.slot[i];

		part.state[i] = slot_at(slot, slot->kind->extent ==
		    SLOT_ELEMENT ? held : slot->kind->extent == SLOT_PARAM ?
		    (size_t)(p - n->graph->param) : 0);
	}
	o->kind->step(o, n->device, &part);
}

/* All that this rank owns in segment number ${i}; running statistics are not
 * shortened with the gradient. */
static void
update_segment(const struct optim *o, struct net *n, const void *g, int i,
    double lr, double scale, double factor)
{
	const struct segment *own = &o->share->segment[i];
	size_t k = o->tiles.begin[i], end = o->tiles.begin[i + 1];

	while (k < end) {
		const struct param *p = &n->graph->param[o->tiles.param[k]];
		size_t from = o->tiles.edge[k], to;

		while (k < end && p == &n->graph->param[o->tiles.param[k]])
			k++;
		to = o->tiles.edge[k];
		if (to > p->offset + p->count)
			to = p->offset + p->count;
		if (from >= to || p->frozen)
			continue;	/* nothing but alignment, or to stay */
		if (p->kind < PARAM_MEAN)
			update(o, n, p, g, from, to, own->held + from - own->at,
			    lr, scale * factor);
		else
			device_track(n->device, element(n, n->w, from),
			    element(n, g, from), to - from,
			    n->graph->op[p->op].momentum, scale);
	}
}

int
optim_step(struct optim *o, struct net *n, const void *g, double scale,
    double lr, double *norm)
{
	double factor = 1, start;

	tiles_own(&o->tiles, n->device, g);
	start = clock_seconds();
	if (tiles_share(&o->tiles) != 0)
		return OPTIM_LOST;
	o->waited = clock_seconds() - start;
	*norm = sqrt(tiles_squares(&o->tiles, 0)) * scale;
	if (!isfinite(*norm))
		return OPTIM_GRADIENT;
	if (!isfinite(tiles_squares(&o->tiles, 1)))
		return OPTIM_STATISTICS;
	if (o->clip > 0 && *norm > o->clip)
		factor = o->clip / (*norm + 1e-6);
	for (int i = 0; i < o->share->n; i++)
		if (o->share->segment[i].rank == o->share->comm->rank)
			update_segment(o, n, g, i, lr, scale, factor);
	start = clock_seconds();
	if (segments_gather(o->share, n->w, n->device->elem) != 0)
		return OPTIM_LOST;
	o->waited += clock_seconds() - start;
	return 0;
}
