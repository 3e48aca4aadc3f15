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

/*
 * Rows of ${c} channels, the first at each pointer.  A window of a wider row
 * begins at a multiple of 32 of it, and ends at one or with it.
 *
 * y = x a + b + res, and max(y, 0) where relu is set; ${res} may be NULL;
 * ${copy} (NULL: none) gets y once more.  Of each 16 channels, as they are
 * kept, ${mask} (NULL: none) gets a bit for each y above 0.  With ${stream},
 * stores go past the caches: rows are multiples of 32 then.
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
 * The gradient that comes to rows: dy + more, each NULL if it is nothing, 0
 * where the relu was shut: by the bits of ${mask}, or, if that is NULL and
 * ${relu} is set, where x a + b is not above 0.
 */
struct half_gradient {
	int c;
	size_t row;			/* of all */
	const bf16 *dy, *more, *x;
	int relu;
	const uint16_t *mask;
	const float *a, *b;		/* [c] */
};

struct half_norm_kernels {
	/* mean[c] and sum of squared deviations m2[c] of rows of c. */
	void (*stats)(const bf16 *x, size_t rows, int c, float *mean,
	    float *m2);
	void (*apply)(const struct half_apply *p, size_t rows);
	/*
	 * With v the gradient: db += sum v, ds += sum v (x - mean).  ${res}
	 * (NULL: none) gets v, or += v with ${more}; past the caches with
	 * ${stream}.
	 */
	void (*sums)(const struct half_gradient *g, size_t rows,
	    const float *mean, float *db, float *ds, bf16 *res, int more,
	    int stream);
	/* dx (+)= v a + x b + c by channel. */
	void (*back)(bf16 *dx, const struct half_gradient *g, size_t rows,
	    const float *va, const float *vb, const float *vc, int more,
	    int stream);
};

extern const struct half_norm_kernels half_norm_kernels_base,
    half_norm_kernels_avx2, half_norm_kernels_avx512;

const struct half_norm_kernels *half_norm_kernels_pick(void);

#endif
