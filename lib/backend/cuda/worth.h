#ifndef BACKEND_CUDA_WORTH_H
#define BACKEND_CUDA_WORTH_H

/* Whether a convolution that does the work of norms beside it (a pattern, driver.h)
 * is faster than a plain one and kernels for that work. */

#include "backend/cuda/driver.h"

/* conv_bytes(s, which): of x, w or y, numbered from 0. */
size_t conv_bytes(const struct conv_shape *s, int which);

/*
 * What tells how long something takes, in seconds.
 * conv: the fastest way to do that; 0: there is none, or it is not known.
 * pass: to read or write so many bytes of the device's memory.
 */
struct stopwatch {
	void *at;			/* its own */
	double (*conv)(void *at, const struct conv_shape *s);
	double (*pass)(void *at, size_t bytes);
};

/*
 * worth_it(s, w, plain):
 * Whether ${s}, CONV_SUMS or CONV_NORMED_SUMS, which has a way, is to be done in it;
 * if not, *plain is what takes its place.  CONV_NORMED_SUMS speaks for
 * CONV_NORM_BACK and CONV_NORMED of the same shape, which are used with it or not at
 * all: with them from a norm to its convolution and back,
 *
 *	fused	the three of them
 *	plain	norm_apply, which reads and writes x, and the faster of CONV_SUMS and
 *		a plain convolution and norm_sums, which reads y; a plain one for
 *		the data, and norm_sums_back, which reads x and its gradient; a
 *		plain one for the weights
 *
 * What both have is left out.  The kernels are bound by memory, so they take a
 * pass; they reach less than that, so a pattern that is taken is worth it.
 */
int worth_it(const struct conv_shape *s, const struct stopwatch *w,
    double *plain);

#endif
