#ifndef BACKEND_CPU_HALF_NORM_KERNELS_H
#define BACKEND_CPU_HALF_NORM_KERNELS_H

/*
 * The loops of batch normalisation and of what is fused with it over rows of
 * bf16, places of an image; one copy for each instruction set (norm.isa.c).
 *
 * A word of two channels is taken apart by a shift and a mask: of each whole 32
 * channels the even ones are worked on first, then the odd ones.  What is kept
 * for each channel lies in that order, half_channel's; a last 16 of a row lie
 * as they are.
 */

#include "backend/cpu/half/kernels.h"
#include "base/isa.h"

/* Where channel ${c} of a row of ${row} is kept. */
static inline int
half_channel(int row, int c)
{
	return c >= row / 32 * 32 ? c : c / 32 * 32 + c % 2 * 16 + c % 32 / 2;
}

/* The channel that is kept at ${at}. */
static inline int
half_channel_of(int row, int at)
{
	return at >= row / 32 * 32 ? at : at / 32 * 32 + at % 16 * 2 +
	    at % 32 / 16;
}

/*
 * Rows are processed in windows of ${c} channels.  Each pointer is that of the
 * window's first channel.  A window starts at a multiple of 32 channels, and
 * ends at one or at the end of the row.  All windows of a row are processed
 * before the next row, so memory is read in order and the hardware prefetches
 * it.
 *
 * y = x a + b + res, and max(y, 0) if relu is set
 *
 * ${res} may be NULL.  ${copy} receives y a second time unless it is NULL.
 * ${mask} receives one bit per value, 16 channels in storage order to a word,
 * unless it is NULL: 1 if y is above 0 or NaN.  ${stream} selects non-temporal
 * stores; rows must then be multiples of 32.
 */
struct half_apply {
	int c;
	size_t row, res_row, y_row;	/* numbers from row to row: of x, mask
					 * times 16, and copy; res; y */
	const bf16 *x, *res;
	const float *a, *b;		/* [c] */
	bf16 *y, *copy;
	uint16_t *mask;
	int relu, stream;
};

/*
 * The gradient of rows: dy + more, and 0 where the relu output was 0.  ${more}
 * is NULL in all windows or in none.  The bits of ${mask} say where the relu
 * output was 0.  If ${mask} is NULL and ${relu} is set, it was 0 where x a + b
 * is at most 0.  ${more} points at the window's first channel, ${first}.  The
 * other pointers are those of whole rows.
 */
struct half_gradient {
	int first, c;
	size_t row, x_row, dy_row, more_row;	/* row: of mask times 16 */
	const bf16 *dy, *more, *x;
	int relu;
	const uint16_t *mask;
	const float *a, *b;		/* by channel */
};

/*
 * Two numbers a piece and channel, [pieces][row]: each image has ${cuts} pieces
 * of ${rows} rows, but ${last} in the last.
 */
struct half_pieces {
	const float *p, *q;
	size_t row;
	int images, cuts;
	size_t rows, last;
};

/* Windows: ${n} of them, which make up rows or a part of these. */
struct half_norm_kernels {
	/* mean[c] and sum of squared deviations m2[c] of rows of c. */
	void (*stats)(const bf16 *x, size_t rows, int c, float *mean,
	    float *m2);
	/* Both of all rows, from pieces' p and q: 16 as they are kept. */
	void (*join)(const struct half_pieces *s, int at, double mean[16],
	    double m2[16]);
	/* The sums of p and q. */
	void (*add)(const struct half_pieces *s, int at, double p[16],
	    double q[16]);
	void (*apply)(const struct half_apply *w, int n, size_t rows);
	/*
	 * With v the gradient: db += sum v, ds += sum v (x - mean).  ${res}
	 * (NULL: none) gets v, or += v with ${more}; past the caches with
	 * ${stream}.
	 */
	void (*sums)(const struct half_gradient *w, int n, size_t rows,
	    const float *mean, float *db, float *ds, bf16 *res, int more,
	    int stream);
	/* dx (+)= v a + x b + c by channel. */
	void (*back)(bf16 *dx, const struct half_gradient *w, int n,
	    size_t rows, const float *va, const float *vb, const float *vc,
	    int more, int stream);
};

extern const struct half_norm_kernels half_norm_kernels_base,
    half_norm_kernels_avx2, half_norm_kernels_avx512;

const struct half_norm_kernels *half_norm_kernels_pick(void) ISA_CONST;

#endif
