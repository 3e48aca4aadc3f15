#ifndef BACKEND_CPU_OUTER_KERNELS_H
#define BACKEND_CPU_OUTER_KERNELS_H

/*
 * Kernel of weight gradients (outer.h, winograd.h): a sum of outer products
 * over positions.  outer.isa.c is compiled once per instruction set.
 * A block of L input by L output channels stays in registers.
 */

#include <stddef.h>

#include "base/isa.h"

/*
 * A range of positions of x and of the matching positions of y.  x[] and y[]
 * are the floats from one image, row and column to the next.
 */
struct outer_range {
	int images, rows, cols;
	size_t x[3], y[3];		/* y[2] is L */
};

struct outer_kernels {
	/*
	 * m[o][i] (+)= sum over the positions of ${w} of y[o] x[i], for L x L
	 * sums; (+)= means += if ${more} is not 0.
	 *
	 * If ${ahead} is not NULL, prefetch the vectors of a range like ${w}
	 * that begins at ${ahead} and has the steps ${step}.
	 */
	void (*sum)(float *m, const float *x, const float *y,
	    const struct outer_range *w, int more, const float *ahead,
	    const size_t step[3]);
};

extern const struct outer_kernels outer_kernels_base, outer_kernels_avx2,
    outer_kernels_avx512;

/* outer_kernels_pick(): return the kernel for this processor (base/isa.h). */
const struct outer_kernels *outer_kernels_pick(void) ISA_CONST;

#endif
