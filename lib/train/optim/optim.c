/* Steps of an optimiser over groups of parameters. */
#include <math.h>
#include <stdlib.h>

#include "backend/formulas.h"
#include "base/clock.h"
#include "base/mem.h"
#include "train/optim/ema.h"
#include "train/optim/loss_scale.h"
#include "train/optim/optim.h"

/* What is kept: the optimiser's, and what was asked for beside it. */
static void
optim_make_list(struct optim *o)
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

/* What the device finds out by itself, and what it is told. */
static int
optim_open_device(struct optim *o, const struct net *n)
{
	portions_open(&o->own, n->graph, o->share, o->rule);
	o->ratio = NULL;
	o->verdict = NULL;
	if (o->kind->ratio != RATIO_NONE && (o->ratio = device_alloc(n->device,
	    (size_t)n->graph->nparam * sizeof(*o->ratio))) == NULL)
		return -1;
	if (device_judges(n->device) && (o->verdict = device_alloc(n->device,
	    sizeof(*o->verdict))) == NULL)
		return -1;
	return 0;
}

void
optim_like(struct optim *o, const struct optim *of)
{
	*o = (struct optim){ .kind = of->kind, .set = of->set,
		.rule = of->rule, .clip = of->clip,
		.clip_value = of->clip_value, .ema = of->ema,
		.loss_scale = of->loss_scale,
		.dynamic_scale = of->dynamic_scale,
		.scale_every = of->scale_every };
}

int
optim_open(struct optim *o, const struct net *n, const struct segments *share)
{
	size_t params = (size_t)n->graph->nparam;

	if (o->kind == NULL)
		o->kind = optimizers;
	if (o->rule == NULL)
		o->rule = group_rules;
	o->share = share;
	if (share == NULL) {
		o->self = comm_self();
		segments_open(&o->alone, o->self, n->graph->elements,
		    n->graph->elements + 1);
		o->share = &o->alone;
	}
	optim_make_list(o);
	if (o->learners > 0)
		segments_dealt(&o->dealt, o->share->comm, n->graph->elements,
		    o->learners);
	o->trust = xcalloc(params, sizeof(*o->trust));
	for (int i = 0; i < 2; i++)
		o->norm[i] = xcalloc(params, sizeof(*o->norm[i]));
	o->device = n->device;
	if (optim_open_device(o, n) != 0)
		return -1;
	tiles_open(&o->tiles, n->graph, o->share);
	o->gather = gathering_new(o->share, n->device);
	return running_open(&o->running, n) != 0 || o->gather == NULL ? -1 :
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
	if (o->ratio != NULL)
		device_free(o->device, o->ratio);
	o->verdict = NULL;
	o->ratio = NULL;
	portions_close(&o->own);
	segments_close(&o->alone);
	segments_close(&o->dealt);
	comm_free(o->self);
	o->self = NULL;
	free(o->trust);
	for (int i = 0; i < 2; i++)
		free(o->norm[i]);
	o->trust = o->norm[0] = o->norm[1] = NULL;
}

/* A step, as it goes through its passes. */
struct optim_update {
	struct optim *o;
	struct net *n;
	void *g;
	double lr;
	double scale;			/* of the gradient; 0: the verdict's */
	double mean;			/* of the statistics */
};

/* ---- norms ---- */

/* Sums of squares of the vector at ${flat}, by tile, on all ranks. */
static int
optim_square(struct optim *o, const struct net *n, const void *flat)
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
optim_take_norms(struct optim *o, const struct graph *g, double scale,
    double *norm)
{
	for (int p = 0; p < g->nparam; p++)
		norm[p] = sqrt(tiles_of(&o->tiles, p)) * scale;
}

/* What is added up where this rank owns all of it. */
static struct addends
optim_addends(const struct optim *o)
{
	const struct tiles *t = &o->tiles;

	return (struct addends){ t->own, t->owns, t->first,
		(size_t)t->graph->nparam };
}

static struct ratio_rule
optim_ratio_rule(const struct optim *o)
{
	return (struct ratio_rule){ o->kind->ratio, o->set.trust,
		o->set.trust_clip };
}

/*
 * The trust ratios of layers, and to the device with them.  ${squared}: the sums
 * at hand are those of k->g.  Every rank has all norms, from sums in an order that
 * the network alone decides, so that all come to the same ratios on any number of
 * ranks.
 */
static int
optim_find_trust(const struct optim_update *k, int squared)
{
	struct optim *o = k->o;
	const struct graph *g = k->n->graph;
	const struct ratio_rule rule = optim_ratio_rule(o);

	if (!squared && optim_square(o, k->n, k->g) != 0)
		return -1;
	optim_take_norms(o, g, k->scale, o->norm[1]);
	if (optim_square(o, k->n, k->n->w) != 0)
		return -1;
	optim_take_norms(o, g, 1, o->norm[0]);
	for (int p = 0; p < g->nparam; p++) {
		const struct layer *l = &o->own.layer[p];

		o->trust[p] = l->has ? ratio_of(&rule, k->lr * l->factor[0],
		    o->set.decay * l->factor[1], o->norm[0][p], o->norm[1][p]) :
		    1;
	}
	device_upload(o->device, o->ratio, o->trust, (size_t)g->nparam *
	    sizeof(*o->ratio));
	return 0;
}

/* The same, by the device itself. */
static void
optim_launch_trust(const struct optim_update *k)
{
	const struct optim *o = k->o;
	const struct ratios r = { .w = k->n->w, .d = k->g,
		.of = optim_addends(o), .layer = o->own.layer,
		.rule = optim_ratio_rule(o), .lr = k->lr, .decay = o->set.decay,
		.scale = k->scale, .ratio = o->ratio };

	device_ratios(o->device, &r);
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
optim_check(struct optim *o, double norm, int finite)
{
	if (!isfinite(norm))
		return finite && o->scale_slot >= 0 &&
		    loss_scale_lower(&o->slots, o->scale_slot) ?
		    OPTIM_SKIPPED : OPTIM_GRADIENT;
	return finite ? 0 : OPTIM_STATISTICS;
}

/* How the optimiser changes what this rank owns. */
static struct optim_pass
optim_pass_of(const struct optim_update *k)
{
	const struct optim *o = k->o;
	struct optim_pass p = { .w = k->n->w, .g = k->g, .lr = k->lr,
		.scale = k->scale, .ratio = o->ratio,
		.portion = o->own.trained.item,
		.portions = o->own.trained.n };

	for (int i = 0; o->kind->slot[i].name != NULL; i++)
		p.state[i] = o->slots.slot[i].data;
	return p;
}

/* Running statistics are neither clipped nor scaled with the gradient. */
static void
optim_track(const struct optim_update *k)
{
	const struct portion_list *own = &k->o->own.statistics;

	device_track(k->o->device, &(struct track){ .w = k->n->w, .x = k->g,
		.rate = 1, .scale = k->mean, .portion = own->item,
		.portions = own->n });
}

/*
 * From a gradient that is finite, or is asked to be by a verdict, to new weights
 * where this rank owns them.
 */
static int
optim_make_step(struct optim_update *k, int asked)
{
	struct optim *o = k->o;
	const struct portion_list *own = &o->own.trained;
	struct optim_pass p;

	if (o->clip_value > 0)
		device_clamp(o->device, &(struct clamp){ .x = k->g,
			.most = o->clip_value, .scale = k->scale,
			.portion = own->item, .portions = own->n });
	if (o->kind->direct != NULL) {
		p = optim_pass_of(k);
		o->kind->direct(&o->set, o->device, &p);
		k->scale = 1;
	}
	if (o->ratio != NULL && asked)
		optim_launch_trust(k);
	else if (o->ratio != NULL && optim_find_trust(k, o->clip_value == 0 &&
	    o->kind->direct == NULL) != 0)
		return -1;
	p = optim_pass_of(k);
	o->kind->step(&o->set, o->device, &p);
	optim_track(k);
	return 0;
}

static void
optim_track_average(struct optim *o)
{
	if (o->ema_slot >= 0)
		ema_track(&o->slots, o->ema_slot, o->ema, o->own.all.item,
		    o->own.all.n);
}

/* A step was made. */
static void
optim_count(struct optim *o)
{
	if (o->kind->counter > 0)
		*(double *)o->slots.slot[o->kind->counter].data += 1;
	if (o->ema_slot >= 0)
		ema_count(&o->slots, o->ema_slot);
	if (o->scale_slot >= 0)
		loss_scale_keep(&o->slots, o->scale_slot, o->scale_every > 0 ?
		    o->scale_every : LOSS_SCALE_EVERY);
}

int
optim_step(struct optim *o, struct net *n, void *g, double scale, double lr,
    double *norm)
{
	struct optim_update k = { o, n, g, lr, scale / optim_loss_scale(o),
	    scale };
	double start;
	int bad;

	o->waited = 0;
	if (optim_square(o, n, g) != 0)
		return OPTIM_LOST;
	*norm = sqrt(tiles_squares(&o->tiles, 0)) * k.scale;
	if ((bad = optim_check(o, *norm, isfinite(tiles_squares(&o->tiles,
	    1)) != 0)) != 0)
		return bad;
	if (o->clip > 0 && *norm > o->clip)
		k.scale *= o->clip / (*norm + 1e-6);
	running_before(&o->running, n);
	if (optim_make_step(&k, 0) != 0)
		return OPTIM_LOST;
	start = clock_seconds();
	if (gathering_run(o->gather, n->w) != 0)
		return OPTIM_LOST;
	o->waited += clock_seconds() - start;
	running_after(&o->running, n);
	optim_track_average(o);
	optim_count(o);
	return 0;
}

/* ---- the same, with the device's own verdict ---- */

/*
 * What the host would have to know in between is not asked of the device: of
 * ranks that own parts, whose gradients pass the host anyway, the norms of the
 * others'.
 */
int
optim_asks(const struct optim *o)
{
	return o->verdict != NULL && (o->share->comm->size == 1 ||
	    o->share->copies) && o->learners == 0;
}

void
optim_ask(struct optim *o, struct net *n, void *g, double scale, double lr,
    const struct losses *losses)
{
	struct optim_update k = { o, n, g, lr, 0, scale };
	const struct judgement j = { .g = g, .of = optim_addends(o),
		.kind = o->own.judged, .scale = scale / optim_loss_scale(o),
		.clip = o->clip, .outcome = losses->outcome,
		.outcomes = losses->n, .most = losses->most,
		.lost = losses->lost };

	o->waited = 0;
	running_before(&o->running, n);
	device_judge(o->device, o->verdict, &j);
	device_obey(o->device, o->verdict);
	optim_make_step(&k, 1);
	/* The average is of statistics that are whole. */
	if (o->running.n == 0)
		optim_track_average(o);
	device_obey(o->device, NULL);
}

int
optim_hear(struct optim *o, struct net *n, double *norm)
{
	struct verdict v;
	int bad;

	device_download(o->device, &v, o->verdict, sizeof(v));
	*norm = v.norm;
	if (v.what == VERDICT_LOSS)
		return OPTIM_UNMADE;
	if ((bad = optim_check(o, v.norm, v.statistics)) != 0)
		return bad;
	if (o->running.n > 0) {
		running_after(&o->running, n);
		optim_track_average(o);
	}
	optim_count(o);
	return 0;
}
