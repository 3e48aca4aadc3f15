#ifndef BACKEND_CPU_BF16_KERNELS_H
#define BACKEND_CPU_BF16_KERNELS_H

/*
 * Kernels of the cpu back end in bf16; kernels.isa.c is compiled once per
 * instruction set.  Rows are positions of an image, with ${c} channels each, a
 * multiple of 16.
 *
 * All arithmetic is fp32.  Only stored values are rounded to bf16: to nearest,
 * ties to even, NaN stays NaN.  Integer operations do it, because the
 * instructions of the processor flush denormal numbers to 0.  The loops wait
 * for memory anyway.
 *
 * (+)= means += if ${more} is not 0, and = otherwise.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "backend/cpu/kernels.h"
#include "base/isa.h"

typedef uint16_t bf16;

/* bf16_wide(v), bf16_of(f): convert a number to float, and round it to bf16. */
static inline float
bf16_wide(bf16 v)
{
	uint32_t u = (uint32_t)v << 16;
	float f;

	memcpy(&f, &u, sizeof(f));
	return f;
}

static inline bf16
bf16_of(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	if ((u & 0x7fffffff) > 0x7f800000)
		return (bf16)(u >> 16 | 0x40);
	return (bf16)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

struct bf16_kernels {
	/* widen and narrow: convert ${n} numbers. */
	void (*widen)(float *to, const bf16 *from, size_t n);
	void (*narrow)(bf16 *to, const float *from, size_t n);
	/* y = a + b; ${y} may be ${a} */
	void (*add)(bf16 *y, const bf16 *a, const bf16 *b, size_t n);
	/*
	 * planes[c / 16][r][c % 16] = x[r][c], and x[r][c] (+)= planes[...]
	 * back
	 */
	void (*planes)(float *planes, const bf16 *x, size_t rows, int c);
	void (*rows)(bf16 *x, const float *planes, size_t rows, int c,
	    int more);
	/* sum[c] = sum over rows of x[r][c] */
	void (*sum)(const bf16 *x, size_t rows, int c, float *sum);
	/* x[r][c] (+)= v[c] */
	void (*fill)(bf16 *x, size_t rows, int c, const float *v, int more);
	/*
	 * Output row ${h} of maximum pooling: y = the maximum of each window,
	 * or its last NaN, and tap = the number of its tap, the first of equal
	 * ones.
	 */
	void (*maxpool)(bf16 *y, uint8_t *tap, const bf16 *x, int c,
	    const struct plane_window *v, int h);
	/*
	 * Input row ${h}: dx[i] (+)= sum of dy[o] over the windows whose tap[o]
	 * is i
	 */
	void (*maxpool_back)(bf16 *dx, const bf16 *dy, const uint8_t *tap,
	    int c, const struct plane_window *v, int h, int more);
};

extern const struct bf16_kernels bf16_kernels_base, bf16_kernels_avx2,
    bf16_kernels_avx512;

/* bf16_kernels_pick(): return the kernels for this processor (base/isa.h). */
const struct bf16_kernels *bf16_kernels_pick(void) ISA_CONST;

#endif
