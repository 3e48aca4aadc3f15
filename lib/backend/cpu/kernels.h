#ifndef BACKEND_CPU_KERNELS_H
#define BACKEND_CPU_KERNELS_H

/*
 * The fp32 kernels of all operators but convolutions, norms and exponentials.
 * kernels.isa.c is compiled once per instruction set, and each copy fills in
 * one struct kernels.  A plane is one block of channels of one image, [hw][L],
 * where L is cpu_lanes().
 *
 * (+)= means += if ${more} is not 0, and = otherwise.  Arrays do not overlap
 * unless a comment says so.  No sum depends on the number of threads or on the
 * instruction set: its lanes are channels, or 16 fixed partial sums.
 */

#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "base/isa.h"

enum { LANES_MAX = 16 };

/*
 * A pooling window that slides over one plane: kernel, stride, padding of h, w.
 */
struct plane_window { int in_h, in_w, out_h, out_w, k[2], s[2], p[2]; };

struct kernels {
	/* channels of a block, L */
	int lanes;
	/* sum[L] = sum over the plane of x */
	void (*plane_sum)(const float *x, size_t hw, float *sum);
	/* dx[i][c] (+)= v[c] */
	void (*plane_fill)(float *dx, size_t hw, const float *v, int more);
	/*
	 * Maximum pooling:
	 *
	 *	y[o] = max over taps of x, or the last NaN among them
	 *	tap[o] = tap0 + the number of its tap, the first of equal ones
	 *
	 * Taps are numbered row by row; ${tap0} numbers the first tap of this
	 * plane.  If ${more} is not 0, continue from the maximum in ${y} and
	 * ${tap}, which holds one byte per element.
	 */
	void (*maxpool)(float *y, uint8_t *tap, const float *x,
	    const struct plane_window *v, int tap0, int more);
	/*
	 * dx[i] (+)= sum of dy[o] over the windows whose tap[o] is position i
	 */
	void (*maxpool_back)(float *dx, const float *dy, const uint8_t *tap,
	    const struct plane_window *v, int tap0, int more);
	/*
	 * y[o] (+)= a * sum of x over the window; if ${cut} is not 0, ${a}
	 * times the mean of the positions inside the plane.
	 */
	void (*avgpool)(float *y, const float *x, const struct plane_window *v,
	    float a, int cut, int more);
	/*
	 * dx[i] (+)= a * sum of dy[o] over the windows that cover i; if ${cut}
	 * is not 0, divide each term by the positions of its window inside the
	 * plane.
	 */
	void (*avgpool_back)(float *dx, const float *dy,
	    const struct plane_window *v, float a, int cut, int more);
	/* y = max(x, 0), NaN kept; dx (+)= dy unless y <= 0 */
	void (*relu)(float *y, const float *x, size_t n);
	void (*relu_back)(float *dx, const float *dy, const float *y, size_t n,
	    int more);
	/* y = min(max(x, 0), 6), NaN kept; dx (+)= dy unless y <= 0 or >= 6 */
	void (*relu6)(float *y, const float *x, size_t n);
	void (*relu6_back)(float *dx, const float *dy, const float *y, size_t n,
	    int more);
	/*
	 * y[i][c] (+)= a[i][c] b[i step + c].  ${step} is L, or 0 if b[L]
	 * applies to all positions.
	 */
	void (*mul)(float *y, const float *a, const float *b, size_t places,
	    size_t step, int more);
	/* sum[i step + c] += a[i][c] b[i][c]; ${step} as in mul */
	void (*mul_sum)(double *sum, const float *a, const float *b,
	    size_t places, size_t step);
	/* y = a + b; ${y} may be ${a}. */
	void (*add)(float *y, const float *a, const float *b, size_t n);
	/* y (+)= a x */
	void (*scale)(float *y, float a, const float *x, size_t n, int more);
	/* Return the sum of a[i] b[i], in double precision. */
	double (*dot)(const float *a, const float *b, size_t n);
	/*
	 * SGD, and Adam's moments and direction, as struct update and struct
	 * moments (backend/parameters.h) describe them; without shards.
	 */
	void (*update)(const struct update *u);
	void (*moments)(const struct moments *m);
};

extern const struct kernels kernels_base, kernels_avx2, kernels_avx512;

/* kernels_pick(): return the kernels for this processor (base/isa.h). */
const struct kernels *kernels_pick(void) ISA_CONST;

#endif
