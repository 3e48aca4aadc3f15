#ifndef MEDIA_TVL1_H
#define MEDIA_TVL1_H

/*
 * Optical flow by TV-L1: the motion that minimizes the absolute difference of
 * two frames plus the total variation of the motion.
 *
 * C. Zach, T. Pock, H. Bischof, "A duality based approach for realtime TV-L1
 * optical flow" (DAGM 2007); J. Sanchez, E. Meinhardt-Llopis, G. Facciolo,
 * "TV-L1 optical flow estimation" (IPOL 2013), whose notation is used here.
 * Constants, stop rule and median filter are the defaults of OpenCV's
 * DualTVL1OpticalFlow, with which two-stream networks were trained.
 */

#include <stdint.h>

#include "base/isa.h"

/*
 * The buffers of a solver.  They are kept between calls and belong to one
 * thread at a time.
 */
struct tvl1;

/*
 * tvl1_new():
 * Return a solver.  The caller frees it with tvl1_free.  tvl1_free(NULL) does
 * nothing.
 */
struct tvl1 *tvl1_new(void);
void tvl1_free(struct tvl1 *t);

/*
 * tvl1_flow(t, from, to, w, h, x, y):
 * Compute the motion from frame ${from} to frame ${to}, both gray,
 * [${h}][${w}], at least 1 by 1.  Pixel (i, j) of ${from} moves to
 * (i + x[j][i], j + y[j][i]) in ${to}; ${x} and ${y} have [${h}][${w}]
 * displacements in pixels, to the right and down.  The result depends on the
 * two frames alone, and has the same bits on every machine.  The program ends
 * if memory is exhausted.
 */
void tvl1_flow(struct tvl1 *t, const uint8_t *from, const uint8_t *to, int w,
    int h, float *x, float *y);

/*
 * ---- internal: the inner loops, for each instruction set (tvl1.isa.c) ----
 *
 * They have one result per element, and no sum depends on the width of a
 * vector.  All copies therefore give the same bits.
 */

#define TVL1_LAMBDA 0.15f	/* weight of the data term */
#define TVL1_THETA 0.3f		/* coupling of u and v */
#define TVL1_TAU 0.25f		/* time step of the dual variables */

/* The rows of one iteration.  u is the flow, p its dual variable. */
struct tvl1_rows {
	float *u[2];			/* [n + 1] */
	const float *u_below[2];	/* the next row; the same at the last */
	float *p[2][2];			/* [-1 to n - 1] of each component of u:
					 * its x and its y part */
	const float *p_above[2];	/* the y parts one row above */
	const float *grad[2];		/* the warped gradient of the second
					 * image */
	const float *rho;		/* constant part of the residual */
	const float *inverse;		/* -1 / |grad|^2; 0 where grad is 0 */
	float *change;			/* [n] sums of squared changes of u over
					 * the rows of an iteration */
};

/* A pixel of the warped image: its value, its gradient, and 0. */
typedef float tvl1_pixel __attribute__((vector_size(16), aligned(4)));

/*
 * tvl1_primal(r, n): update the ${n} elements of row r->u, and add the squared
 * changes to r->change.
 * tvl1_dual(r, n): update the row r->p from r->u and r->u_below.
 */
ISA_DECLARE(void, tvl1_primal, (const struct tvl1_rows *r, int n));
ISA_DECLARE(void, tvl1_dual, (const struct tvl1_rows *r, int n));

/*
 * tvl1_median(to, from, n): set to[i] to the median of the 5 by 5 elements
 * around from[2][i], for i from 0 to ${n} - 1.  The rows ${from} have elements
 * from -2 to n + 1.
 */
ISA_DECLARE(void, tvl1_median, (float *to, const float *const from[5], int n));

/*
 * tvl1_warp(to, image, stride, x, y, w, h, j):
 * Set to[i] to ${image} at (i + x[i], j + y[i]) by bicubic interpolation
 * (a = -0.75), for i from 0 to ${w} - 1, or to 0 if this place is outside of
 * the ${w} by ${h} image.  Element (0, 0) of the image is image[0]; its margin
 * is 1 pixel left and above, and 2 right and below.  ${stride} is in pixels.
 */
ISA_DECLARE(void, tvl1_warp, (tvl1_pixel *to, const tvl1_pixel *image,
    int stride, const float *x, const float *y, int w, int h, int j));

#endif
