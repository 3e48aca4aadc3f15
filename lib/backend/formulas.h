#ifndef BACKEND_FORMULAS_H
#define BACKEND_FORMULAS_H

/*
 * Formulas for one parameter, compiled for the host and for devices, with the
 * same bits.  Both compilers read this file and must not contract expressions.
 */

#include <math.h>

#include "backend/parameters.h"

#ifdef __CUDACC__
#define FORMULA		static __device__ __forceinline__
#else
#define FORMULA		static inline
#endif

/*
 * formula_ratio_of(r, lr, decay, w, d):
 * Return the trust ratio of a layer with this learning rate and decay.  ${w} is
 * the norm of its weights, ${d} that of its gradient or direction:
 *
 *	LARS: t = trust w / (d + decay w), with clip min(t / lr, 1)
 *	LAMB: t = w / d, with clip min(t, 1)
 *
 * Return 1 if a norm is 0 or the rule is RATIO_NONE.  Sources:
 * train/optim/optimizer.c.
 */
FORMULA double
formula_ratio_of(const struct ratio_rule *r, double lr, double decay, double w,
    double d)
{
	double all = r->kind == RATIO_LARS ? d + decay * w : d, t;

	if (r->kind == RATIO_NONE || w == 0 || all == 0)
		return 1;
	if (r->kind == RATIO_LAMB) {
		t = w / d;
		return r->clip && t > 1 ? 1 : t;
	}
	t = r->trust * w / all;
	if (r->clip)
		return t < lr ? t / lr : 1;
	return t;
}

/*
 * update_rates(u, p, scale, ratio):
 * Return learning rate, decay and gradient scale of update ${u} for the
 * elements of ${p}.  ${scale} multiplies the gradient, and ${ratio} is the
 * trust ratio.
 */
struct update_rates { double lr, decay, scale; };

FORMULA struct update_rates
update_rates(const struct update *u, const struct owned_shard *p, double scale,
    double ratio)
{
	struct update_rates r = { u->lr * p->factor[0], u->decay * p->factor[1],
		scale };

	if (u->use == RATIO_RATE) {
		r.lr *= ratio;
		return r;
	}
	if (u->use == RATIO_STEP) {
		ratio *= r.lr;
		r.lr = 1;
	}
	r.decay *= ratio;
	r.scale *= ratio;
	return r;
}

/*
 * formula_loss_is_bad(loss, largest):
 * Return 1 if |${loss}| exceeds ${largest} or is NaN.
 */
FORMULA int
formula_loss_is_bad(double loss, double largest)
{
	return !(fabs(loss) <= largest);
}

/*
 * formula_step_check_of(trained, statistics, scale, clip, lost):
 * Decide whether to skip a step, from the sums of squares of all trained
 * gradients and of all statistics.  The norm is that of the gradient times
 * ${scale}.  A norm above ${clip} shortens the step, as in PyTorch's
 * clip_grad_norm_; 0: no limit.  ${lost} is 1 if a loss is out of range.
 */
FORMULA struct step_check
formula_step_check_of(double trained, double statistics, double scale,
    double clip, int lost)
{
	struct step_check v;

	v.scale = scale;
	v.norm = sqrt(trained) * scale;
	v.statistics = isfinite(statistics) != 0;
	v.kind = lost ? STEP_CHECK_LOSS : !isfinite(v.norm) ?
	    STEP_CHECK_GRADIENT : !v.statistics ? STEP_CHECK_STATISTICS :
	    STEP_CHECK_STEP;
	if (clip > 0 && v.norm > clip)
		v.scale *= clip / (v.norm + 1e-6);
	return v;
}

#endif
