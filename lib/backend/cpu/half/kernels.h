#ifndef BACKEND_CPU_HALF_KERNELS_H
#define BACKEND_CPU_HALF_KERNELS_H

/*
 * The loops of the cpu back end in bf16, one copy for each instruction set
 * (kernels.isa.c).  Rows are the places of an image, of ${c} channels each, a
 * multiple of 16.  All arithmetic is fp32, and the only rounding to bf16 is of
 * what is stored: to the nearest, of two the even one, and NaN stays NaN.  (By
 * integer operations, not the processor's: these flush small numbers to 0, and
 * the loops wait for memory anyway.)
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "backend/cpu/kernels.h"
#include "base/isa.h"

typedef uint16_t bf16;

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

struct half_kernels {
	void (*widen)(float *to, const bf16 *from, size_t n);
	void (*narrow)(bf16 *to, const float *from, size_t n);
	/* y = a + b; y may be a. */
	void (*add)(bf16 *y, const bf16 *a, const bf16 *b, size_t n);
	/* Blocks of 16 channels, [c / 16][rows][16], and back; += with more. */
	void (*planes)(float *planes, const bf16 *x, size_t rows, int c);
	void (*rows)(bf16 *x, const float *planes, size_t rows, int c,
	    int more);
	/* sum[c] of rows. */
	void (*sum)(const bf16 *x, size_t rows, int c, float *sum);
	/* x[c] (+)= v[c] in all rows. */
	void (*fill)(bf16 *x, size_t rows, int c, const float *v, int more);
	/* Output row ${h}: the first largest of each window, and its tap. */
	void (*maxpool)(bf16 *y, uint8_t *tap, const bf16 *x, int c,
	    const struct window *v, int h);
	/* Input row ${h}: dx (+)= the dy whose taps are here. */
	void (*maxpool_back)(bf16 *dx, const bf16 *dy, const uint8_t *tap,
	    int c, const struct window *v, int h, int more);
};

extern const struct half_kernels half_kernels_base, half_kernels_avx2,
    half_kernels_avx512;

const struct half_kernels *half_kernels_pick(void) ISA_CONST;

#endif
