#ifndef BACKEND_CPU_EXP_KERNELS_H
#define BACKEND_CPU_EXP_KERNELS_H

/*
 * Kernels of the operators that need the exponential function.
 * exp_kernels.isa.c is compiled once per instruction set.  Planes and (+)= are
 * as in kernels.h.  A polynomial approximates the exponential within a relative
 * error of 2e-7, and the compiler can vectorize it.
 */

#include <stddef.h>

#include "base/isa.h"

/*
 * A softmax over channels of ${n} positions, at most SOFTMAX_POSITIONS.
 * ${step} is the distance of two successive blocks of channels, in floats.
 */
struct softmax_span { size_t n, step; int blocks, channels; };

struct exp_kernels {
	/*
	 * y = 1 / (1 + exp(-x)) in the first ${channels} lanes, 0 in the others
	 */
	void (*sigmoid)(float *y, const float *x, size_t places, int channels);
	/* dx (+)= dy y (1 - y) */
	void (*sigmoid_back)(float *dx, const float *dy, const float *y,
	    size_t n, int more);
	/*
	 * y = x s, and backward dx (+)= dy s (1 + x (1 - s)), where
	 * s = 1 / (1 + exp(-x))
	 */
	void (*swish)(float *y, const float *x, size_t n);
	void (*swish_back)(float *dx, const float *dy, const float *x, size_t n,
	    int more);
	/*
	 * y = exp(x - max) / sum of exp(x - max), max and sum over the channels
	 */
	void (*softmax)(float *y, const float *x, const struct softmax_span *s);
	/* dx (+)= y (dy - sum over channels of y dy) */
	void (*softmax_back)(float *dx, const float *dy, const float *y,
	    const struct softmax_span *s, int more);
};

enum { SOFTMAX_POSITIONS = 16 };	/* 98 blocks of 16 positions fit the
					 * cache */

extern const struct exp_kernels exp_kernels_base, exp_kernels_avx2,
    exp_kernels_avx512;

/* exp_kernels_pick(): return the kernels for this processor (base/isa.h). */
const struct exp_kernels *exp_kernels_pick(void) ISA_CONST;

#endif
