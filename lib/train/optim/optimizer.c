/* The table of optimizers, and the formula of each. */
#include "train/optim/optimizer.h"

/* Return the arguments of a step with momentum along a gradient. */
static struct update
optimizer_momentum_step(const struct optimizer_settings *s,
    const struct optim_pass *p)
{
	return (struct update){ .w = p->w, .m = p->state[0], .g = p->g,
		.lr = p->lr, .momentum = s->momentum, .decay = s->decay,
		.scale = p->scale, .nesterov = s->nesterov,
		.ratio = p->ratio, .shard = p->shard,
		.shards = p->shards };
}

/*
 * m = momentum m + g + decay w,  w -= lr m
 *
 * With Nesterov momentum, w -= lr (g + decay w + momentum m).
 */
static void
optimizer_sgd(const struct optimizer_settings *s, struct device *d,
    const struct optim_pass *p)
{
	const struct update u = optimizer_momentum_step(s, p);

	device_update(d, &u);
}

/*
 * LARS (You, Gitman and Ginsburg 2017, algorithm 1).  With the layer's ratio
 *
 *   t = eta |w| / (|g| + decay |w|)
 *
 *   lars:          m = momentum m + lr t (g + decay w),  w -= m
 *   lars-outside:  m = momentum m + t (g + decay w),     w -= lr m
 *
 * The first is the paper's.  They differ where lr changes: in the first, a step
 * keeps the learning rate that it was made with.  With clipping, t becomes
 * min(t / lr, 1), so that no layer takes a larger step than without LARS: LARC,
 * as in NVIDIA's Apex.
 */
static void
optimizer_lars_outside(const struct optimizer_settings *s, struct device *d,
    const struct optim_pass *p)
{
	struct update u = optimizer_momentum_step(s, p);

	u.use = RATIO_GRADIENT;
	device_update(d, &u);
}

static void
optimizer_lars(const struct optimizer_settings *s, struct device *d,
    const struct optim_pass *p)
{
	struct update u = optimizer_momentum_step(s, p);

	u.use = RATIO_STEP;
	device_update(d, &u);
}

/*
 * AdamW (Loshchilov and Hutter 2019, algorithm 2, with the learning rate on the
 * decay as in PyTorch) and LAMB (You et al. 2020, algorithm 2).  With the
 * direction d of device_moments,
 *
 *   w -= lr t d
 *
 * where t is 1 for AdamW and the layer's |w| / |d| for LAMB, which clipping
 * limits to 1.  state[2] counts steps.
 */

/*
 * Return 1 - x^n, the bias correction, by multiplications alone: C libraries
 * differ in pow.
 */
static double
optimizer_bias_correction(double x, double n)
{
	double power = 1;

	for (uint64_t k = (uint64_t)n; k > 0; k /= 2, x *= x)
		if (k % 2 == 1)
			power *= x;
	return 1 - power;
}

static void
optimizer_adam_direct(const struct optimizer_settings *s, struct device *d,
    const struct optim_pass *p)
{
	double step = *(const double *)p->state[2] + 1;
	struct moments m = { .w = p->w, .m = p->state[0], .v = p->state[1],
		.g = p->g, .beta1 = s->beta1, .beta2 = s->beta2,
		.eps = s->eps, .decay = s->decay, .scale = p->scale,
		.bias_correction1 = optimizer_bias_correction(s->beta1, step),
		.bias_correction2 = optimizer_bias_correction(s->beta2, step),
		.shard = p->shard, .shards = p->shards };

	device_moments(d, &m);
}

static void
optimizer_adam_step(const struct optimizer_settings *s, struct device *d,
    const struct optim_pass *p)
{
	struct update u = { .w = p->w, .g = p->g, .lr = p->lr, .scale = 1,
		.ratio = p->ratio, .shard = p->shard,
		.shards = p->shards };

	(void)s;
	device_update(d, &u);
}

#define MOMENTUM { { "optim/momentum", SLOT_ELEMENT, SLOT_REAL, 0, 0 } }
#define MOMENTS { { "optim/exp_avg", SLOT_ELEMENT, SLOT_REAL, 0, 0 }, \
	{ "optim/exp_avg_sq", SLOT_ELEMENT, SLOT_REAL, 0, 0 }, \
	{ "optim/step", SLOT_ONCE, SLOT_F64, 0, 0 } }

const struct optimizer optimizers[] = {
	{ "sgd", MOMENTUM, 0, NULL, RATIO_NONE, optimizer_sgd },
	{ "lars", MOMENTUM, 0, NULL, RATIO_LARS, optimizer_lars },
	{ "lars-outside", MOMENTUM, 0, NULL, RATIO_LARS,
	    optimizer_lars_outside },
	{ "adamw", MOMENTS, 2, optimizer_adam_direct, RATIO_NONE,
	    optimizer_adam_step },
	{ "lamb", MOMENTS, 2, optimizer_adam_direct, RATIO_LAMB,
	    optimizer_adam_step },
	{ NULL, MOMENTUM, 0, NULL, RATIO_NONE, NULL }
};
