#ifndef BACKEND_CPU_NORM_KERNELS_H
#define BACKEND_CPU_NORM_KERNELS_H

/*
 * Kernels of batch normalization and of the operators fused with it, over rows
 * of numbers, which are positions of an image.  norm.isa.c has those of fp32,
 * whose rows are a block of channels (kernels.h).  bf16/norm.isa.c has those of
 * bf16, whose rows are all channels.  Both include norm_body.h.
 *
 * Each output is written once and read much later, so the stores bypass the
 * caches.  Measured on two cores of a Xeon: 17 GB/s instead of 6.8.
 *
 * A shift and a mask separate a word of two channels in bf16.  These kernels
 * therefore process, in each whole 32 channels, the even ones first, then the
 * odd ones.  Floats per channel are stored in this storage order.  A last 16
 * channels of a row are in their plain order, as are all channels in fp32.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/isa.h"

/*
 * y = x a + b + res, and max(y, 0) if ${relu} is not 0
 *
 * Rows are processed in windows of ${c} channels, and each pointer is that of
 * the first channel of its window.  In bf16 a window begins at a multiple of 32
 * channels, and ends at one or at the end of the row.  All windows of a row are
 * processed before the next row, so memory is read in order and the hardware
 * prefetches it.  In fp32 a row is one window.
 *
 * ${res} may be NULL: then it is 0.  If ${copy} is not NULL, it receives y too.
 * If ${mask} is not NULL, it receives one bit per value, a vector of channels
 * in storage order to a word: 1 if y is above 0 or NaN.  ${stream} selects
 * non-temporal stores; rows must then be multiples of 64 bytes.
 */
struct cpu_norm_apply {
	int c;
	size_t row, res_row, y_row;	/* numbers between rows: of x, mask
					 * and copy; of res; of y */
	const void *x, *res;
	const float *a, *b;		/* [c] */
	void *y, *copy;
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
struct norm_gradient {
	int first, c;
	size_t row, x_row, dy_row, more_row;	/* row: of the mask */
	const void *dy, *more, *x;
	int relu;
	const uint16_t *mask;
	const float *a, *b;		/* [row], storage order */
};

/*
 * Two numbers per piece and channel, [pieces][row].  Each image has ${cuts}
 * pieces of ${rows} rows, and ${last} in the last one.
 */
struct norm_pieces {
	const float *p, *q;
	size_t row;
	int images, cuts;
	size_t rows, last;
};

/*
 * Rows of one vector whose lanes come from up to three planes:
 *
 *	v = sum over k of from[k] & lane[k]
 *
 * ${lane}[k] has all bits set in the lanes to take from ${from}[k], whose rows
 * are ${row}[k] numbers apart.  Each lane is set in at most one of the three.
 */
struct norm_mix {
	const float *from[3];
	size_t row[3];
	int32_t lane[3][16];
};

/* ${n} is the number of windows, which make up rows or a part of them. */
struct norm_kernels {
	/*
	 * mean[k] = sum of x[r][k] / rows, m2[k] = sum of (x[r][k] - mean[k])^2
	 */
	void (*stats)(const void *x, size_t rows, int c, float *mean,
	    float *m2);
	/*
	 * The same over all rows, combined from p = mean and q = m2 of the
	 * pieces, for one vector of channels at index ${at} in storage order.
	 */
	void (*join)(const struct norm_pieces *s, int at, double *mean,
	    double *m2);
	/* p = sum of the p of the pieces, q = sum of their q */
	void (*add)(const struct norm_pieces *s, int at, double *p, double *q);
	/* See struct cpu_norm_apply. */
	void (*apply)(const struct cpu_norm_apply *w, int n, size_t rows);
	/*
	 * db[k] += sum of v, ds[k] += sum of v (x - mean), v as in struct
	 * norm_gradient.  If ${res} is not NULL, it receives v, or += v if
	 * ${more} is not 0.  ${stream} stores it past the caches.
	 */
	void (*sums)(const struct norm_gradient *w, int n, size_t rows,
	    const float *mean, float *db, float *ds, void *res, int more,
	    int stream);
	/* dx (+)= v va + x vb + vc; (+)= means += if ${more} is not 0 */
	void (*back)(void *dx, const struct norm_gradient *w, int n,
	    size_t rows, const float *va, const float *vb, const float *vc,
	    int more, int stream);
	/* to = the rows of ${m}; fp32 only, NULL in bf16 */
	void (*mix)(float *to, const struct norm_mix *m, size_t rows);
};

extern const struct norm_kernels norm_kernels_base, norm_kernels_avx2,
    norm_kernels_avx512, norm_bf16_kernels_base, norm_bf16_kernels_avx2,
    norm_bf16_kernels_avx512;

/*
 * norm_kernels_pick(), norm_bf16_kernels_pick():
 * Return the kernels of fp32 and of bf16 for this processor (base/isa.h).
 */
const struct norm_kernels *norm_kernels_pick(void) ISA_CONST;
const struct norm_kernels *norm_bf16_kernels_pick(void) ISA_CONST;

#endif
