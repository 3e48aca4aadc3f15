/* The table of optimizers, and the formula of each. */
#include "train/optim/optimizer.h"

/*
 * A step with momentum along a gradient.  SGD:
 *
 *   m = momentum m + g + decay w,  w -= lr m
 *
 * With Nesterov momentum, w -= lr (g + decay w + momentum m).
 *
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
optimizer_momentum_step(const struct optimizer_settings *s, struct device *d,
    const struct optim_pass *p)
{
	const struct update u = { .w = p->w, .m = p->state[0], .g = p->g,
		.lr = p->lr, .momentum = s->momentum, .decay = s->decay,
		.scale = p->scale, .nesterov = s->nesterov, .use = p->use,
		.ratio = p->ratio, .shard = p->shard, .shards = p->shards };

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
	{ "sgd", MOMENTUM, 0, NULL, RATIO_NONE, RATIO_RATE,
	    optimizer_momentum_step },
	{ "lars", MOMENTUM, 0, NULL, RATIO_LARS, RATIO_STEP,
	    optimizer_momentum_step },
	{ "lars-outside", MOMENTUM, 0, NULL, RATIO_LARS, RATIO_GRADIENT,
	    optimizer_momentum_step },
	{ "adamw", MOMENTS, 2, optimizer_adam_direct, RATIO_NONE, RATIO_RATE,
	    optimizer_adam_step },
	{ "lamb", MOMENTS, 2, optimizer_adam_direct, RATIO_LAMB, RATIO_RATE,
	    optimizer_adam_step },
	{ NULL, MOMENTUM, 0, NULL, RATIO_NONE, RATIO_RATE, NULL }
};
