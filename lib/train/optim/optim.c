/*
 * Steps of an optimizer over parameter groups.
 *
 * A step checks that gradient, losses and statistics are finite, then clips,
 * updates and gathers.  Either the host checks, which waits for the gradient's
 * norm, or the device checks and skips the update by itself.
 */
#include <math.h>
#include <stdlib.h>

#include "backend/formulas.h"
#include "base/clock.h"
#include "base/mem.h"
#include "train/optim/ema.h"
#include "train/optim/loss_scale.h"
#include "train/optim/optim.h"

/* List all state: the optimizer's, and that of the options. */
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
	o->list[n].name = NULL;
}

/* Allocate in device memory: trust ratios and the found_inf check. */
static int
optim_open_device(struct optim *o, const struct net *n)
{
	owned_shards_open(&o->own, n->graph, o->share, o->rule);
	if (o->kind->ratio != RATIO_NONE && (o->ratio = device_alloc(n->device,
	    (size_t)n->graph->nparam * sizeof(*o->ratio))) == NULL)
		return -1;
	if (o->ema > 0 && (o->swap = device_alloc(n->device, EMA_SWAP)) == NULL)
		return -1;
	/* The device lacks the norms of elements of other ranks. */
	if (device_has_step_check(n->device) && (o->share->comm->size == 1 ||
	    o->share->copies) && (o->check = device_alloc(n->device,
	    sizeof(*o->check))) == NULL)
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
		segments_distribute(&o->distributed, o->share->comm,
		    n->graph->elements, o->learners);
	o->trust = xcalloc((size_t)n->graph->nparam, sizeof(*o->trust));
	o->device = n->device;
	if (optim_open_device(o, n) != 0)
		return -1;
	norm_blocks_open(&o->tiles, n->graph, o->share);
	o->gather = allgather_new(o->share, n->device);
	return running_open(&o->running, n) != 0 || o->gather == NULL ? -1 :
	    slots_open(&o->slots, o->list, n, o->share, &o->distributed);
}

void
optim_close(struct optim *o)
{
	slots_close(&o->slots);
	norm_blocks_close(&o->tiles);
	running_close(&o->running);
	allgather_free(o->gather);
	o->gather = NULL;
	device_free(o->device, o->check);
	device_free(o->device, o->ratio);
	device_free(o->device, o->swap);
	o->check = NULL;
	o->ratio = NULL;
	o->swap = NULL;
	owned_shards_close(&o->own);
	segments_close(&o->alone);
	segments_close(&o->distributed);
	comm_free(o->self);
	o->self = NULL;
	free(o->trust);
	o->trust = NULL;
}

/* ---- norms ---- */

/*
 * Compute the sums of squares of the vector at ${flat}, by norm block, on all
 * ranks.
 */
static int
optim_square(struct optim *o, const void *flat)
{
	double start;

	norm_blocks_sum(&o->tiles, o->device, flat);
	start = clock_seconds();
	if (norm_blocks_allgather(&o->tiles) != 0)
		return -1;
	o->waited += clock_seconds() - start;
	return 0;
}

/* Return the norm blocks for a device that holds all of them. */
static struct block_sums
optim_addends(const struct optim *o)
{
	const struct norm_blocks *t = &o->tiles;

	return (struct block_sums){ t->own, t->owns, t->first,
		(size_t)t->graph->nparam };
}

static struct ratio_rule
optim_ratio_rule(const struct optim *o)
{
	return (struct ratio_rule){ o->kind->ratio, o->set.trust,
		o->set.trust_clip };
}

/*
 * Compute the trust ratios of all layers on the host and upload them.
 * ${squared}: ${o}->tiles already holds the gradient's sums of squares.  Every
 * rank has all norms, summed in an order that depends only on the network.  So
 * the ratios are the same bits for any number of ranks.
 */
static int
optim_trust_on_host(struct optim *o, int squared)
{
	const struct optim_update *k = &o->update;
	const struct graph *g = k->n->graph;
	const struct ratio_rule rule = optim_ratio_rule(o);

	if (!squared && optim_square(o, k->g) != 0)
		return -1;
	for (int p = 0; p < g->nparam; p++)
		o->trust[p] = sqrt(norm_blocks_param(&o->tiles, p)) * k->scale;
	if (optim_square(o, k->n->w) != 0)
		return -1;
	for (int p = 0; p < g->nparam; p++) {
		const struct layer *l = &o->own.layer[p];

		o->trust[p] = l->has_ratio ? formula_ratio_of(&rule,
		    k->lr * l->factor[0], o->set.decay * l->factor[1],
		    sqrt(norm_blocks_param(&o->tiles, p)), o->trust[p]) : 1;
	}
	device_upload(o->device, o->ratio, o->trust, (size_t)g->nparam *
	    sizeof(*o->ratio));
	return 0;
}

/* Launch the same computation on the device. */
static void
optim_launch_trust(const struct optim *o)
{
	const struct optim_update *k = &o->update;
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

	/*
	 * Weights and statistics are the same on all ranks: each rank checks
	 * its own elements.
	 */
	norm_blocks_sum(&o->tiles, n->device, n->w);
	bad = !norm_blocks_finite(&o->tiles) || !slots_finite(&o->slots);
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
	return ema_swap(&o->slots, o->ema_slot, o->gather, n->w, o->swap);
}

/* Return the arguments of the optimizer's functions, for the owned elements. */
static struct optim_pass
optim_pass_of(const struct optim *o)
{
	const struct optim_update *k = &o->update;
	struct optim_pass p = { .w = k->n->w, .g = k->g, .lr = k->lr,
		.scale = k->scale, .ratio = o->ratio, .use = o->kind->use,
		.shard = o->own.trained.item,
		.shards = o->own.trained.n };

	for (int i = 0; o->kind->slot[i].name != NULL; i++)
		p.state[i] = o->slots.slot[i].data;
	return p;
}

/* Running statistics are neither clipped nor scaled with the gradient. */
static void
optim_track(const struct optim *o)
{
	const struct optim_update *k = &o->update;
	const struct owned_shard_list *own = &o->own.statistics;

	device_track(o->device, &(struct track){ .w = k->n->w, .x = k->g,
		.rate = 1, .scale = k->mean, .shard = own->item,
		.shards = own->n });
}

static void
optim_track_average(struct optim *o)
{
	if (o->ema_slot >= 0)
		ema_track(&o->slots, o->ema_slot, o->ema, o->own.all.item,
		    o->own.all.n);
}

/* Launch the update of the owned elements. */
static int
optim_make_step(struct optim *o)
{
	struct optim_update *k = &o->update;
	const struct owned_shard_list *own = &o->own.trained;
	struct optim_pass p;

	running_before(&o->running, k->n);
	if (o->clip_value > 0)
		device_clamp(o->device, &(struct clamp){ .x = k->g,
			.max = o->clip_value, .scale = k->scale,
			.shard = own->item, .shards = own->n });
	if (o->kind->direct != NULL) {
		p = optim_pass_of(o);
		o->kind->direct(&o->set, o->device, &p);
		k->scale = 1;
	}
	if (o->ratio != NULL && o->check != NULL)
		optim_launch_trust(o);
	else if (o->ratio != NULL && optim_trust_on_host(o,
	    o->clip_value == 0 && o->kind->direct == NULL) != 0)
		return -1;
	p = optim_pass_of(o);
	o->kind->step(&o->set, o->device, &p);
	optim_track(o);
	return 0;
}

/*
 * Launch the found_inf check on the device.  The device skips the following
 * updates unless it passes.
 */
static void
optim_launch_check(struct optim *o, double scale, const struct losses *l)
{
	const struct step_check_args j =
		{ .g = o->update.g, .of = optim_addends(o),
			.kind = o->own.check_kind, .scale = scale,
			.clip = o->clip,
		.outcome = l->outcome, .outcomes = l->n, .max_loss = l->max,
		.found_inf = l->found_inf };

	device_step_check(o->device, o->check, &j);
	device_step_guard(o->device, o->check);
	o->update.scale = 0;
}

/* Check on the host, from the sums of squares of all ranks. */
static int
optim_check_on_host(struct optim *o, double scale, const struct losses *l)
{
	int lost = 0;

	for (size_t i = 0; i < l->n; i++)
		lost |= formula_loss_is_bad(l->outcome[i].loss, l->max);
	if (optim_square(o, o->update.g) != 0)
		return -1;
	o->result = formula_step_check_of(norm_blocks_total(&o->tiles, 0),
	    norm_blocks_total(&o->tiles, 1), scale, o->clip, lost);
	o->update.scale = o->result.scale;
	return 0;
}

static int
optim_gather(struct optim *o)
{
	double start = clock_seconds();
	int bad = allgather_run(o->gather, o->update.n->w);

	o->waited += clock_seconds() - start;
	return bad;
}

/*
 * Check the step, and update the weights if it is good.  If the device checks,
 * none of this has been executed on return.
 */
static int
optim_launch(struct optim *o, const struct losses *l)
{
	double scale = o->update.mean / optim_loss_scale(o);

	o->update.launched = 1;
	if (o->check != NULL)
		optim_launch_check(o, scale, l);
	else if (optim_check_on_host(o, scale, l) != 0)
		return -1;
	else if (o->result.kind != STEP_CHECK_STEP)
		return 0;
	if (optim_make_step(o) != 0 || optim_gather(o) != 0)
		return -1;
	/* With aggregated statistics, the EMA waits for running_after. */
	if (o->running.n == 0)
		optim_track_average(o);
	if (o->check != NULL)
		device_step_guard(o->device, NULL);
	return 0;
}

void
optim_begin(struct optim *o, struct net *n, void *g, double scale, double lr,
    const struct losses *losses)
{
	o->update = (struct optim_update){ .n = n, .g = g, .lr = lr,
		.mean = scale };
	o->waited = 0;
	/* The host can check the losses only if it can read device memory. */
	if (losses != NULL && (o->check != NULL ||
	    !n->device->backend->discrete))
		optim_launch(o, losses);
}

/* Count a step that was made. */
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

/* Wait for the result of the check. */
static enum step_check_kind
optim_wait(struct optim *o)
{
	if (o->check != NULL)
		device_download(o->device, &o->result, o->check,
		    sizeof(o->result));
	return (enum step_check_kind)o->result.kind;
}

int
optim_finish(struct optim *o, double *norm)
{
	static const struct losses good = { .n = 0 };

	if (!o->update.launched || optim_wait(o) == STEP_CHECK_LOSS) {
		if (optim_launch(o, &good) != 0)
			return OPTIM_LOST;
		optim_wait(o);
	}
	*norm = o->result.norm;
	/*
	 * Lower the loss scale only if the statistics of the step are finite.
	 * They do not depend on the scale, so otherwise it is not the reason.
	 */
	if (o->result.kind == STEP_CHECK_GRADIENT)
		return o->result.statistics && o->scale_slot >= 0 &&
		    loss_scale_lower(&o->slots, o->scale_slot) ?
		    OPTIM_SKIPPED : OPTIM_GRADIENT;
	if (o->result.kind == STEP_CHECK_STATISTICS)
		return OPTIM_STATISTICS;
	/* The EMA follows statistics that running_after has completed. */
	if (o->running.n > 0) {
		running_after(&o->running, o->update.n);
		optim_track_average(o);
	}
	optim_count(o);
	return 0;
}

int
optim_step(struct optim *o, struct net *n, void *g, double scale, double lr,
    double *norm)
{
	optim_begin(o, n, g, scale, lr, NULL);
	return optim_finish(o, norm);
}
