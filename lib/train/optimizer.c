/* The optimisers: a table, and the formula of each. */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "train/optimizer.h"

static void
sgd(const struct optimizer_settings *s, struct device *d,
    const struct optim_part *p)
{
	struct update u = { .w = p->w, .m = p->state[0], .g = p->g, .n = p->n,
		.lr = p->lr, .momentum = s->momentum, .decay = p->decay,
		.scale = p->scale, .nesterov = s->nesterov };

	device_update(d, &u);
}

/*
 * ---- LARS (You, Gitman and Ginsburg 2017, algorithm 1): with the layer's
 * ratio t = eta |w| / (|g| + decay |w|),
 *
 *   lars:          m = momentum m + lr t (g + decay w),  w -= m
 *   lars-outside:  m = momentum m + t (g + decay w),     w -= lr m
 *
 * The first is the paper's.  They differ where lr changes: in the first a step
 * keeps the learning rate that it was made with.  With clipping t becomes
 * min(t / lr, 1), so that no layer is faster than without LARS: LARC, as in
 * NVIDIA's Apex. ----
 */
static double
lars_trust(const struct optimizer_settings *s, const struct optim_layer *l)
{
	double all = l->d + l->decay * l->w, t;

	if (l->w == 0 || all == 0)
		return 1;
	t = s->trust * l->w / all;
	if (s->trust_clip)
		return t < l->lr ? t / l->lr : 1;
	return t;
}

static void
lars_outside(const struct optimizer_settings *s, struct device *d,
    const struct optim_part *p)
{
	struct optim_part part = *p;

	part.scale *= p->trust;
	part.decay *= p->trust;
	sgd(s, d, &part);
}

static void
lars(const struct optimizer_settings *s, struct device *d,
    const struct optim_part *p)
{
	struct optim_part part = *p;

	part.trust *= p->lr;
	part.lr = 1;
	lars_outside(s, d, &part);
}

/*
 * ---- AdamW (Loshchilov and Hutter 2019, algorithm 2, with the learning rate
 * on the decay as in PyTorch) and LAMB (You et al. 2020, algorithm 2): with the
 * direction d of device_moments, w -= lr t d, where t is 1 or the layer's
 * |w| / |d|, which clipping keeps at 1 or below.  state[2] counts steps. ----
 */

/* 1 - x^n, by multiplications alone: libraries differ in pow. */
static double
rest_of_power(double x, double n)
{
	double power = 1;

	for (uint64_t k = (uint64_t)n; k > 0; k /= 2, x *= x)
		if (k % 2 == 1)
			power *= x;
	return 1 - power;
}

static void
adam_direct(const struct optimizer_settings *s, struct device *d,
    const struct optim_part *p)
{
	double step = *(const double *)p->state[2] + 1;
	struct moments m = { .w = p->w, .m = p->state[0], .v = p->state[1],
		.g = p->g, .n = p->n, .beta1 = s->beta1, .beta2 = s->beta2,
		.eps = s->eps, .decay = p->decay, .scale = p->scale,
		.rest1 = rest_of_power(s->beta1, step),
		.rest2 = rest_of_power(s->beta2, step) };

	device_moments(d, &m);
}

static double
lamb_trust(const struct optimizer_settings *s, const struct optim_layer *l)
{
	double t;

	if (l->w == 0 || l->d == 0)
		return 1;
	t = l->w / l->d;
	return s->trust_clip && t > 1 ? 1 : t;
}

static void
adam_step(const struct optimizer_settings *s, struct device *d,
    const struct optim_part *p)
{
	struct update u = { .w = p->w, .g = p->g, .n = p->n,
		.lr = p->lr * p->trust, .scale = 1 };

	(void)s;
	device_update(d, &u);
}

#define MOMENTUM { { "optim/momentum", SLOT_ELEMENT, SLOT_REAL, 0, 0 } }
#define MOMENTS { { "optim/exp_avg", SLOT_ELEMENT, SLOT_REAL, 0, 0 }, \
	{ "optim/exp_avg_sq", SLOT_ELEMENT, SLOT_REAL, 0, 0 }, \
	{ "optim/step", SLOT_ONCE, SLOT_F64, 0, 0 } }

const struct optimizer optimizers[] = {
	{ "sgd", MOMENTUM, 0, NULL, NULL, sgd },
	{ "lars", MOMENTUM, 0, NULL, lars_trust, lars },
	{ "lars-outside", MOMENTUM, 0, NULL, lars_trust, lars_outside },
	{ "adamw", MOMENTS, 2, adam_direct, NULL, adam_step },
	{ "lamb", MOMENTS, 2, adam_direct, lamb_trust, adam_step },
	{ NULL, MOMENTUM, 0, NULL, NULL, NULL }
};

const struct optimizer *
optimizer_find(const char *name)
{
	for (const struct optimizer *o = optimizers; o->name != NULL; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return fail_null("no optimiser %s (wanted sgd, lars, lars-outside, adamw "
	    "or lamb)", text_quote(name));
}
