#ifndef BACKEND_CPU_OUTER_KERNELS_H
#define BACKEND_CPU_OUTER_KERNELS_H

/*
 * Sums of outer products over places, one copy for each instruction set
 * (outer.isa.c); outer.h says what they are for.  A block of L input channels
 * by one of L output channels is held in registers over all places of a walk.
 */

#include <stddef.h>

#include "base/isa.h"

/* Places of x and y that belong together: steps from one image, row and column
 * to the next, in numbers. */
struct outer_walk {
	int images, rows, cols;
	size_t x[3], y[3];		/* y[2] is L */
};

struct outer_kernels {
	/*
	 * m[L][L] (+)= sum over the walk of y[o] x[i], m[o][i]; ${more} 0:
	 * written, not added to.  On the way memory is fetched that will be
	 * wanted later: what a walk of the steps ${step} from ${ahead} meets;
	 * NULL: none.
	 */
	void (*sum)(float *m, const float *x, const float *y,
	    const struct outer_walk *w, int more, const float *ahead,
	    const size_t step[3]);
};

extern const struct outer_kernels outer_kernels_base, outer_kernels_avx2,
    outer_kernels_avx512;

const struct outer_kernels *outer_kernels_pick(void) ISA_CONST;

#endif
