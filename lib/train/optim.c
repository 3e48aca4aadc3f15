/* Steps of an optimiser over groups of parameters. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "train/ema.h"
#include "train/loss_scale.h"
#include "train/optim.h"

/* What is kept: the optimiser's, and what was asked for beside it. */
static void
make_list(struct optim *o)
{
	int n = 0;

	for (const struct slot_kind *k = o->kind->slot; k->name != NULL; k++) {
		o->list[n] = *k;
		if (o->learners > 0 && k->extent == SLOT_ELEMENT)
			o->list[n].extent = SLOT_LEARNER;
		n++;
	}
	o->ema_slot = o->scale_slot = -1;
	if (o->ema > 0) {
		o->ema_slot = n;
		for (int i = 0; i < EMA_SLOTS; i++)
			o->list[n++] = ema_slots[i];
	}
	if (o->dynamic_scale) {
		o->scale_slot = n;
		for (int i = 0; i < LOSS_SCALE_SLOTS; i++)
			o->list[n++] = loss_scale_slots[i];
	}
	o->outer_slot = o->outer ? n : -1;
	if (o->outer)		/* the last one, which learners lack */
		o->list[n++] = (struct slot_kind){ "outer/momentum",
			SLOT_ELEMENT, SLOT_REAL, 0, 0 };
	o->list[n].name = NULL;
}

/* What the device gives its verdict by. */
static int
open_verdict(struct optim *o, const struct graph *g)
{
	o->judged = xcalloc((size_t)g->nparam, 1);
	for (int p = 0; p < g->nparam; p++)
		o->judged[p] = (char)(g->param[p].frozen ? JUDGED_NOT :
		    g->param[p].kind >= PARAM_MEAN ? JUDGED_STATISTICS :
		    JUDGED_TRAINED);
	o->verdict = device_alloc(o->device, sizeof(*o->verdict));
	return o->verdict == NULL ? -1 : 0;
}

int
optim_open(struct optim *o, const struct net *n, const struct segments *share)
{
	size_t params = (size_t)n->graph->nparam;

	if (o->kind == NULL)
		o->kind = optimizers;
	o->share = share;
	if (share == NULL) {
		o->self = comm_self();
		segments_open(&o->alone, o->self, n->graph->elements,
		    n->graph->elements + 1);
		o->share = &o->alone;
	}
	make_list(o);
	if (o->learners > 0)
		segments_dealt(&o->dealt, o->share->comm, n->graph->elements,
		    o->learners);
	o->trust = xcalloc(params, sizeof(*o->trust));
	for (int i = 0; i < 2; i++)
		o->norm[i] = xcalloc(params, sizeof(*o->norm[i]));
	o->device = n->device;
	if (device_judges(n->device) && open_verdict(o, n->graph) != 0)
		return -1;
	tiles_open(&o->tiles, n->graph, o->share);
	running_open(&o->running, n->graph);
	o->gather = gathering_new(o->share, n->device);
	return o->gather == NULL ? -1 :
	    slots_open(&o->slots, o->list, n, o->share, &o->dealt);
}

void
optim_close(struct optim *o)
{
	slots_close(&o->slots);
	tiles_close(&o->tiles);
	running_close(&o->running);
	gathering_free(o->gather);
	o->gather = NULL;
	if (o->verdict != NULL)
		device_free(o->device, o->verdict);
	o->verdict = NULL;
	free(o->judged);
	o->judged = NULL;
	segments_close(&o->alone);
	segments_close(&o->dealt);
	comm_free(o->self);
	o->self = NULL;
	free(o->trust);
	for (int i = 0; i < 2; i++)
		free(o->norm[i]);
	o->trust = o->norm[0] = o->norm[1] = NULL;
}

static void *
element(const struct net *n, const void *flat, size_t i)
{
	return (char *)flat + i * n->device->elem;
}

/* ---- over what this rank owns ---- */

/* A step, as it goes through the passes below. */
struct pass {
	struct optim *o;
	struct net *n;
	void *g;
	double lr, scale;		/* of the gradient */
	double mean;			/* of the statistics */
};

/* Elements ${from} to ${to} - 1 of a parameter, which are kept at ${held}. */
static struct optim_part
part_of(const struct pass *k, const struct param *p, size_t from, size_t to,
    size_t held)
{
	const struct optim *o = k->o;
	struct group group = group_of(o->rule, p);
	size_t number = (size_t)(p - k->n->graph->param);
	struct optim_part part = { .param = p, .n = to - from,
		.w = element(k->n, k->n->w, from), .g = element(k->n, k->g,
		from), .lr = k->lr * group.lr, .decay = o->set.decay *
		group.decay, .scale = k->scale, .trust = o->trust[number] };

	for (int i = 0; o->kind->slot[i].name != NULL; i++) {
		const struct slot *slot = &o->slots.slot[i];

		part.state[i] = slot_at(slot, slot->kind->extent ==
		    SLOT_ELEMENT ? held : slot->kind->extent == SLOT_PARAM ?
		    number : 0);
	}
	return part;
}

typedef void each_part(const struct pass *k, const struct optim_part *p);

/* ${each} for all that this rank owns in segment number ${i} of parameters that
 * are not frozen. */
static void
walk_segment(const struct pass *k, int i, each_part *each)
{
	const struct tiles *t = &k->o->tiles;
	const struct graph *g = k->n->graph;
	const struct segment *own = &k->o->share->segment[i];
	size_t at = t->begin[i], end = t->begin[i + 1];

	while (at < end) {
		const struct param *p = &g->param[t->param[at]];
		size_t from = t->edge[at], to;
		struct optim_part part;

		while (at < end && p == &g->param[t->param[at]])
			at++;
		to = t->edge[at];
		if (to > p->offset + p->count)
			to = p->offset + p->count;
		if (from >= to || p->frozen)
			continue;	/* nothing but alignment, or to stay */
		part = part_of(k, p, from, to, own->held + from - own->at);
		each(k, &part);
	}
}

static void
walk(const struct pass *k, each_part *each)
{
	const struct segments *s = k->o->share;

	for (int i = 0; i < s->n; i++)
		if (s->segment[i].rank == s->comm->rank)
			walk_segment(k, i, each);
}

static void
clamp(const struct pass *k, const struct optim_part *p)
{
	if (p->param->kind < PARAM_MEAN)
		device_clamp(k->n->device, p->g, p->n, k->o->clip_value /
		    p->scale);
}

static void
direct(const struct pass *k, const struct optim_part *p)
{
	if (p->param->kind < PARAM_MEAN)
		k->o->kind->direct(&k->o->set, k->n->device, p);
}

/* Running statistics are neither clipped nor scaled with the gradient. */
static void
update(const struct pass *k, const struct optim_part *p)
{
	struct device *d = k->n->device;

	if (p->param->kind < PARAM_MEAN)
		k->o->kind->step(&k->o->set, d, p);
	else
		running_track(k->n, p->param, p->w, p->g, p->n, k->mean);
}

/* ---- norms ---- */

/* Sums of squares of the vector at ${flat}, by tile, on all ranks. */
static int
square(struct optim *o, const struct net *n, const void *flat)
{
	double start;

	tiles_own(&o->tiles, n->device, flat);
	start = clock_seconds();
	if (tiles_share(&o->tiles) != 0)
		return -1;
	o->waited += clock_seconds() - start;
	return 0;
}

/* The norms of all parameters, of what was squared last. */
static void
take_norms(struct optim *o, const struct graph *g, double scale, double *norm)
{
	for (int p = 0; p < g->nparam; p++)
		norm[p] = sqrt(tiles_of(&o->tiles, p)) * scale;
}

/*
 * The trust ratios of layers.  ${squared}: the sums at hand are those of k->g.
 * Every rank has all norms, from sums in an order that the network alone
 * decides, so that all come to the same ratios on any number of ranks.
 */
static int
find_trust(const struct pass *k, int squared)
{
	struct optim *o = k->o;
	const struct graph *g = k->n->graph;

	for (int p = 0; p < g->nparam; p++)
		o->trust[p] = 1;
	if (o->kind->trust == NULL)
		return 0;
	if (!squared && square(o, k->n, k->g) != 0)
		return -1;
	take_norms(o, g, k->scale, o->norm[1]);
	if (square(o, k->n, k->n->w) != 0)
		return -1;
	take_norms(o, g, 1, o->norm[0]);
	for (int p = 0; p < g->nparam; p++) {
		struct group group = group_of(o->rule, &g->param[p]);
		struct optim_layer l = { k->lr * group.lr, o->set.decay *
			group.decay, o->norm[0][p], o->norm[1][p] };

		if (g->param[p].kind == PARAM_WEIGHT)
			o->trust[p] = o->kind->trust(&o->set, &l);
	}
	return 0;
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

/* ---- a step ---- */

double
optim_loss_scale(const struct optim *o)
{
	return o->scale_slot >= 0 ? loss_scale_now(&o->slots, o->scale_slot) :
	    o->loss_scale > 0 ? o->loss_scale : 1;
}

int
optim_swap(struct optim *o, struct net *n)
{
	return ema_swap(&o->slots, o->ema_slot, o->gather, n->w);
}

/* 0, or what is wrong with a gradient of this norm; ${finite}: its statistics
 * are. */
static int
check(struct optim *o, double norm, int finite)
{
	if (!isfinite(norm))
		return finite && o->scale_slot >= 0 &&
		    loss_scale_lower(&o->slots, o->scale_slot) ?
		    OPTIM_SKIPPED : OPTIM_GRADIENT;
	return finite ? 0 : OPTIM_STATISTICS;
}

static void
keep_scale(struct optim *o)
{
	if (o->scale_slot >= 0)
		loss_scale_keep(&o->slots, o->scale_slot, o->scale_every > 0 ?
		    o->scale_every : LOSS_SCALE_EVERY);
}

/* From a gradient that is finite to new weights where this rank owns them. */
static int
make_step(struct pass *k)
{
	struct optim *o = k->o;

	if (o->clip_value > 0)
		walk(k, clamp);
	if (o->kind->direct != NULL) {
		walk(k, direct);
		k->scale = 1;
	}
	if (find_trust(k, o->clip_value == 0 && o->kind->direct == NULL) != 0)
		return -1;
	walk(k, update);
	if (o->kind->counter > 0)
		*(double *)o->slots.slot[o->kind->counter].data += 1;
	return 0;
}

int
optim_step(struct optim *o, struct net *n, void *g, double scale, double lr,
    double *norm)
{
	struct pass k = { o, n, g, lr, scale / optim_loss_scale(o), scale };
	double start;
	int bad;

	o->waited = 0;
	if (square(o, n, g) != 0)
		return OPTIM_LOST;
	*norm = sqrt(tiles_squares(&o->tiles, 0)) * k.scale;
	if ((bad = check(o, *norm, isfinite(tiles_squares(&o->tiles, 1)) !=
	    0)) != 0)
		return bad;
	if (o->clip > 0 && *norm > o->clip)
		k.scale *= o->clip / (*norm + 1e-6);
	running_before(&o->running, n);
	if (make_step(&k) != 0)
		return OPTIM_LOST;
	start = clock_seconds();
	if (gathering_run(o->gather, n->w) != 0)
		return OPTIM_LOST;
	o->waited += clock_seconds() - start;
	running_after(&o->running, n);
	if (o->ema_slot >= 0)
		ema_track(&o->slots, o->ema_slot, o->ema);
	keep_scale(o);
	return 0;
}

/* ---- the same, with the device's own verdict ---- */

/* What the host would have to know in between, other ranks or not, is not asked
 * of the device. */
int
optim_asks(const struct optim *o)
{
	return o->verdict != NULL && o->share->comm->size == 1 &&
	    o->learners == 0 && o->clip_value == 0 && o->kind->direct == NULL &&
	    o->kind->trust == NULL && o->kind->counter == 0 &&
	    o->running.n == 0 && o->ema_slot < 0;
}

void
optim_ask(struct optim *o, struct net *n, void *g, double scale, double lr,
    const struct outcome *losses, size_t count)
{
	struct pass k = { o, n, g, lr, scale / optim_loss_scale(o), scale };
	const struct judgement j = { .g = g, .edge = o->tiles.edge,
		.runs = o->tiles.n, .first = o->tiles.first, .kind = o->judged,
		.params = (size_t)n->graph->nparam, .scale = k.scale,
		.clip = o->clip, .outcome = losses, .outcomes = count };

	o->waited = 0;
	device_judge(o->device, o->verdict, &j);
	device_obey(o->device, o->verdict);
	make_step(&k);
	device_obey(o->device, NULL);
}

int
optim_hear(struct optim *o, double *norm)
{
	struct verdict v;
	int bad;

	device_download(o->device, &v, o->verdict, sizeof(v));
	*norm = v.norm;
	if (v.what == VERDICT_LOSS)
		return OPTIM_GRADIENT;
	if ((bad = check(o, v.norm, v.statistics)) == 0)
		keep_scale(o);
	return bad;
}
