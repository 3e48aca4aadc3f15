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
 * Rows go in windows: ${c} channels of each, the first at each pointer.  They
 * begin at a multiple of 32 of a row, and end at one or with it.  A row is
 * worked on whole, window by window, before the next: so all memory is met in
 * its order, which is what a processor fetches ahead.
 *
 * y = x a + b + res, and max(y, 0) where relu is set; ${res} may be NULL;
 * ${copy} (NULL: none) gets y once more.  Of each 16 channels, as they are
 * kept, ${mask} (NULL: none) gets a bit for each y above 0 or NaN.  With
 * ${stream}, stores go past the caches: rows are multiples of 32 then.
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
 * The gradient that comes to rows: dy + more, of which ${more} may be NULL in
 * all windows; 0 where the relu was shut: by the bits of ${mask}, or, if that
 * is NULL and ${relu} is set, where x a + b is at most 0.  Only ${more} is
 * the window's, channels ${first} and on; all else is of whole rows.
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

const struct half_norm_kernels *half_norm_kernels_pick(void);

#endif
