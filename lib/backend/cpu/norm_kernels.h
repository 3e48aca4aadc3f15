#ifndef BACKEND_CPU_NORM_KERNELS_H
#define BACKEND_CPU_NORM_KERNELS_H

/*
 * Kernels of batch normalization and of the operators fused with it, over
 * planes [hw][L] (kernels.h); norm.isa.c is compiled once per instruction set.
 * Each output is written once and read much later, so the stores bypass the
 * caches.  Measured on two cores of a Xeon: 17 GB/s instead of 6.8.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/isa.h"

/*
 * A plane whose lanes come from up to three planes:
 *
 *	v = sum over k of from[k] & lane[k]
 *
 * ${lane}[k] has all bits set in the lanes to take from ${from}[k], and each
 * lane is set in at most one of the three.
 */
struct norm_mix {
	const float *from[3];
	int32_t lane[3][16];
};

/*
 * y = x a + b + res, and max(y, 0) if ${relu} is not 0
 *
 * ${res} may be NULL: then it is 0.  If ${copy} is not NULL, it receives y too.
 * If ${mask} is not NULL, it receives one word per position with one bit per
 * lane: 1 if y is above 0 or NaN.
 */
struct cpu_norm_apply {
	const float *x, *res;
	const float *a, *b;		/* [L] */
	float *y, *copy;
	uint16_t *mask;
	int relu;
};

/*
 * The same with mixed planes x and res.  Lanes of y that ${x} takes from no
 * plane become 0.
 */
struct norm_apply_mix {
	struct norm_mix x, res;
	int add;			/* add ${res} */
	const float *a, *b;
	float *y;
	int relu;
};

/*
 * The gradient v of a plane: the sum of ${n} terms, set to 0 where the relu
 * output was 0.  With ${relu}, ${mask} has a bit 1 where it was not.  If
 * ${mask} is NULL, the relu output was 0 where x a + b <= 0.
 */
struct norm_gradient {
	const float *dy[2];
	const struct norm_mix *mix;	/* replaces the last dy if not NULL */
	int n;
	int relu;
	const uint16_t *mask;
	const float *x, *a, *b;
};

struct norm_kernels {
	/*
	 * mean[c] = sum of x[i][c] / hw, m2[c] = sum of (x[i][c] - mean[c])^2
	 */
	void (*stats)(const float *x, size_t hw, float *mean, float *m2);
	/* See struct cpu_norm_apply. */
	void (*apply)(const struct cpu_norm_apply *p, size_t hw);
	/* See struct norm_apply_mix. */
	void (*apply_mix)(const struct norm_apply_mix *p, size_t hw);
	/*
	 * db[c] = sum of v, ds[c] = sum of v (x - mean), v as in struct
	 * norm_gradient.  If ${res} is not NULL, it receives v, or += v if
	 * ${more} is not 0.
	 */
	void (*sums)(const struct norm_gradient *g, size_t hw,
	    const float *mean, float *db, float *ds, float *res, int more);
	/* dx (+)= a v + b x + c; (+)= means += if ${more} is not 0 */
	void (*back)(float *dx, const struct norm_gradient *g, size_t hw,
	    const float *a, const float *b, const float *c, int more);
};

extern const struct norm_kernels norm_kernels_base, norm_kernels_avx2,
    norm_kernels_avx512;

/* norm_kernels_pick(): return the kernels for this processor (base/isa.h). */
const struct norm_kernels *norm_kernels_pick(void) ISA_CONST;

#endif
