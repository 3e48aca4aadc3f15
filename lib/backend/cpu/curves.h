#ifndef BACKEND_CPU_CURVES_H
#define BACKEND_CPU_CURVES_H

/*
 * Loops over the exponential function, one copy for each instruction set
 * (curves.isa.c); planes are as in kernels.h.  The exponential is a polynomial
 * that the compiler makes vectors of, within 2e-7 of it.
 */

#include <stddef.h>

#include "base/isa.h"

/* What is shared out: ${n} places of ${blocks} planes, ${step} floats apart. */
struct shares { size_t n, step; int blocks, channels; };

struct curves_kernels {
	/* y = 1 / (1 + exp(-x)) in the first ${channels} lanes, 0 beyond. */
	void (*sigmoid)(float *y, const float *x, size_t places, int channels);
	/* dx (+)= dy y (1 - y) */
	void (*sigmoid_back)(float *dx, const float *dy, const float *y,
	    size_t n, int more);
	/* y = x sigmoid(x); dx (+)= dy times its slope */
	void (*swish)(float *y, const float *x, size_t n);
	void (*swish_back)(float *dx, const float *dy, const float *x, size_t n,
	    int more);
	/* y = softmax of x over channels, of up to SHARES places. */
	void (*softmax)(float *y, const float *x, const struct shares *s);
	/* dx (+)= y (dy - sum y dy) */
	void (*softmax_back)(float *dx, const float *dy, const float *y,
	    const struct shares *s, int more);
};

enum { SHARES = 16 };		/* 98 planes of 16 places stay in the cache */

extern const struct curves_kernels curves_base, curves_avx2, curves_avx512;

const struct curves_kernels *curves_pick(void) ISA_CONST;

#endif
