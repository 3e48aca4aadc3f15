#ifndef BACKEND_CPU_BF16_NORM_KERNELS_H
#define BACKEND_CPU_BF16_NORM_KERNELS_H

/*
 * Kernels of batch normalization and of the operators fused with it, over rows
 * of bf16, which are positions of an image.  norm.isa.c is compiled once per
 * instruction set.
 *
 * A shift and a mask separate a word of two channels.  The kernels therefore
 * process, in each whole 32 channels, the even ones first, then the odd ones.
 * Floats per channel are stored in this storage order; bf16_channel() converts
 * to it.  A last 16 channels of a row are in their plain order.
 */

#include "backend/cpu/bf16/kernels.h"
#include "base/isa.h"

/*
 * bf16_channel(row, c):
 * Return the index in storage order of channel ${c} of a row of ${row}
 * channels.
 */
static inline int
bf16_channel(int row, int c)
{
	return c >= row / 32 * 32 ? c : c / 32 * 32 + c % 2 * 16 + c % 32 / 2;
}

/*
 * bf16_channel_of(row, at): return the channel at index ${at} in storage order.
 */
static inline int
bf16_channel_of(int row, int at)
{
	return at >= row / 32 * 32 ? at : at / 32 * 32 + at % 16 * 2 +
	    at % 32 / 16;
}

/*
 * y = x a + b + res, and max(y, 0) if ${relu} is not 0
 *
 * Rows are processed in windows of ${c} channels, and each pointer is that of
 * the first channel of its window.  A window begins at a multiple of 32
 * channels, and ends at one or at the end of the row.  All windows of a row are
 * processed before the next row, so memory is read in order and the hardware
 * prefetches it.
 *
 * ${res} may be NULL: then it is 0.  If ${copy} is not NULL, it receives y too.
 * If ${mask} is not NULL, it receives one bit per value, 16 channels in storage
 * order to a word: 1 if y is above 0 or NaN.  ${stream} selects non-temporal
 * stores; rows must then be multiples of 32.
 */
struct bf16_apply {
	int c;
	size_t row, res_row, y_row;	/* numbers between rows: of x, mask
					 * times 16 and copy; of res; of y */
	const bf16 *x, *res;
	const float *a, *b;		/* [c] */
	bf16 *y, *copy;
	uint16_t *mask;
	int relu, stream;
};

/*
 * The gradient v of rows: dy + more, set to 0 where the relu output was 0.
 *
 * ${more} is NULL in all windows or in none.  With ${relu}, ${mask} has a bit 1
 * where the relu output was not 0.  If ${mask} is NULL, it was 0 where x a + b
 * <= 0.  ${more} points at the first channel of the window, ${first}; the other
 * pointers are those of whole rows.
 */
struct bf16_gradient {
	int first, c;
	size_t row, x_row, dy_row, more_row;	/* row: of mask times 16 */
	const bf16 *dy, *more, *x;
	int relu;
	const uint16_t *mask;
	const float *a, *b;		/* [row], storage order */
};

/*
 * Two numbers per piece and channel, [pieces][row].  Each image has ${cuts}
 * pieces of ${rows} rows, and ${last} in the last one.
 */
struct bf16_pieces {
	const float *p, *q;
	size_t row;
	int images, cuts;
	size_t rows, last;
};

/* ${n} is the number of windows, which make up rows or a part of them. */
struct bf16_norm_kernels {
	/*
	 * mean[k] = sum of x[r][k] / rows, m2[k] = sum of (x[r][k] - mean[k])^2
	 */
	void (*stats)(const bf16 *x, size_t rows, int c, float *mean,
	    float *m2);
	/*
	 * The same over all rows, combined from p = mean and q = m2 of the
	 * pieces, for the 16 channels at index ${at} in storage order.
	 */
	void (*join)(const struct bf16_pieces *s, int at, double mean[16],
	    double m2[16]);
	/* p = sum of the p of the pieces, q = sum of their q */
	void (*add)(const struct bf16_pieces *s, int at, double p[16],
	    double q[16]);
	/* See struct bf16_apply. */
	void (*apply)(const struct bf16_apply *w, int n, size_t rows);
	/*
	 * db[k] += sum of v, ds[k] += sum of v (x - mean), v as in struct
	 * bf16_gradient.  If ${res} is not NULL, it receives v, or += v if
	 * ${more} is not 0.  ${stream} stores it past the caches.
	 */
	void (*sums)(const struct bf16_gradient *w, int n, size_t rows,
	    const float *mean, float *db, float *ds, bf16 *res, int more,
	    int stream);
	/* dx (+)= v va + x vb + vc; (+)= means += if ${more} is not 0 */
	void (*back)(bf16 *dx, const struct bf16_gradient *w, int n,
	    size_t rows, const float *va, const float *vb, const float *vc,
	    int more, int stream);
};

extern const struct bf16_norm_kernels bf16_norm_kernels_base,
    bf16_norm_kernels_avx2, bf16_norm_kernels_avx512;

/*
 * bf16_norm_kernels_pick(): return the kernels for this processor (base/isa.h).
 */
const struct bf16_norm_kernels *bf16_norm_kernels_pick(void) ISA_CONST;

#endif
