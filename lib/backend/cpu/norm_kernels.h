#ifndef BACKEND_CPU_NORM_KERNELS_H
#define BACKEND_CPU_NORM_KERNELS_H

/*
 * The loops of batch normalisation and of what is fused with it, over planes
 * ([hw][lanes], kernels.h); one copy for each instruction set
 * (norm.isa.c).  Each output is written once and read much later: the stores
 * go past the caches (measured on two cores of a Xeon: 17 GB/s against 6.8).
 */

#include <stddef.h>
#include <stdint.h>

#include "base/isa.h"

/*
 * A plane whose lanes come from three: of each place, ${from}[k] where
 * ${lane}[k] has all bits set, which of the three is so for one at most.
 */
struct norm_mix {
	const float *from[3];
	int32_t lane[3][16];
};

/*
 * y = x a + b + res, and max(y, 0) if relu is set
 *
 * ${res} may be NULL.  ${copy} receives y a second time unless it is NULL.
 * ${mask} receives one word per pixel unless it is NULL, with one bit per lane:
 * 1 if y is above 0 or NaN.
 */
struct norm_apply {
	const float *x, *res;
	const float *a, *b;		/* [lanes] */
	float *y, *copy;
	uint16_t *mask;
	int relu;
};

/* The same of lanes from three planes, and 0 in those that come from none. */
struct norm_apply_mix {
	struct norm_mix x, res;
	int add;			/* res counts */
	const float *a, *b;
	float *y;
	int relu;
};

/*
 * The gradient of a plane: the sum of ${n} terms, and 0 where the relu output
 * was 0.  The bits of ${mask} say where that was.  If ${mask} is NULL and
 * ${relu} is set, it was where x a + b is at most 0.
 */
struct norm_gradient {
	const float *dy[2];
	const struct norm_mix *mix;	/* in place of the last dy; NULL: none */
	int n;
	int relu;
	const uint16_t *mask;
	const float *x, *a, *b;
};

struct norm_kernels {
	/* mean[lanes] and sum of squared deviations m2[lanes] of a plane. */
	void (*stats)(const float *x, size_t hw, float *mean, float *m2);
	void (*apply)(const struct norm_apply *p, size_t hw);
	void (*apply_mix)(const struct norm_apply_mix *p, size_t hw);
	/*
	 * With v the gradient: db = sum v, ds = sum v (x - mean).  ${res}
	 * (NULL: none) gets v, or += v with ${more}.
	 */
	void (*sums)(const struct norm_gradient *g, size_t hw,
	    const float *mean, float *db, float *ds, float *res, int more);
	/* dx (+)= a v + b x + c by lane. */
	void (*back)(float *dx, const struct norm_gradient *g, size_t hw,
	    const float *a, const float *b, const float *c, int more);
};

extern const struct norm_kernels norm_kernels_base, norm_kernels_avx2,
    norm_kernels_avx512;

const struct norm_kernels *norm_kernels_pick(void) ISA_CONST;

#endif
