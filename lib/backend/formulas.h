#ifndef BACKEND_FORMULAS_H
#define BACKEND_FORMULAS_H

/*
 * What is computed of a parameter as a whole, on the host or on a device, to the
 * same bits: read by both compilers, neither of which may contract it.
 */

#include "backend/parameters.h"

#ifdef __CUDACC__
#define FORMULA		static __device__ __forceinline__
#else
#define FORMULA		static inline
#endif

/*
 * ratio_of(r, lr, decay, w, d): of a layer with that learning rate and decay,
 * and these norms.
 */
FORMULA double
ratio_of(const struct ratio_rule *r, double lr, double decay, double w, double d)
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
 * update_rates(u, p, scale, ratio): learning rate, decay and scale of a step,
 * for what is in ${p}.
 */
struct update_rates { double lr, decay, scale; };

FORMULA struct update_rates
update_rates(const struct update *u, const struct portion *p, double scale,
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

#endif
