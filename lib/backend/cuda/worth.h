#ifndef BACKEND_CUDA_WORTH_H
#define BACKEND_CUDA_WORTH_H

/* Whether a convolution that does the work of norms beside it (a pattern, driver.h)
 * is faster than a plain one and kernels for that work. */

#include "backend/cuda/driver.h"
#include "backend/cuda/norm.h"

/* conv_bytes(s, which): of x, w or y, numbered from 0. */
size_t conv_bytes(const struct conv_shape *s, int which);

/*
 * What tells how long something takes, in seconds.
 * conv: the fastest way to do that; 0: there is none, or it is not known.
 * norm: one kernel of the norm at x, or, of PART_SUMS, at y; 0: it is not known.
 */
struct stopwatch {
	void *at;			/* its own */
	double (*conv)(void *at, const struct conv_shape *s);
	double (*norm)(void *at, const struct conv_shape *s,
	    enum norm_part part);
};

/*
 * worth_it(s, w, plain):
 * Whether ${s}, CONV_SUMS or CONV_NORMED_SUMS, which has a way, is to be done in it;
 * if not, *plain is what takes its place.  CONV_NORMED_SUMS speaks for
 * CONV_NORM_BACK and CONV_NORMED of the same shape, which are used with it or not at
 * all: with them from a norm to its convolution and back,
 *
 *	fused	the three of them
 *	plain	norm_apply at x, and the faster of CONV_SUMS and a plain
 *		convolution and norm_sums at y; a plain one for the data, and
 *		norm_sums_back at x; a plain one for the weights
 *
 * What both have is left out.  A pattern is kept where a time is not known.
 */
int worth_it(const struct conv_shape *s, const struct stopwatch *w,
    double *plain);

#endif
