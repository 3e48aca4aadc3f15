#ifndef BASE_RESIZE_SUMS_H
#define BASE_RESIZE_SUMS_H

/*
 * What a resized byte is the sum of, once, for the host's plain versions and for
 * kernels (backend/cuda/resize_body.h): all of it in whole numbers, so that both
 * give the same bits.
 */

#include <stdint.h>

#ifdef __CUDACC__
#define RESIZE_SUM	static __device__ __forceinline__
#else
#define RESIZE_SUM	static inline
#endif

/* What the bilinear weights of a column and of a row add up to (resize.isa.c). */
#define RESIZE_ACROSS 255
#define RESIZE_DOWN 8224

#define ANTIALIAS_BITS 22	/* weights are in 2^-22, as Pillow's */
#define ANTIALIAS_HALF (1 << (ANTIALIAS_BITS - 1))

/* Bilinear: of a pixel and its neighbour a number of a line, and of two lines
 * a byte. */
RESIZE_SUM int16_t
resize_across(uint8_t p, uint8_t next, int w0, int w1)
{
	return (int16_t)((p - 128) * w0 + (next - 128) * w1);
}

RESIZE_SUM uint8_t
resize_down(int16_t a, int16_t b, int16_t w0, int16_t w1)
{
	int16_t u = (int16_t)((a * w0 + (1 << 14)) >> 15);
	int16_t v = (int16_t)((b * w1 + (1 << 14)) >> 15);

	return (uint8_t)(((int16_t)(u + v + 32) >> 6) + 128);
}

/* Antialiased: the byte that a sum of weights times bytes is, which began as
 * ANTIALIAS_HALF. */
RESIZE_SUM uint8_t
antialias_byte(int32_t sum)
{
	return (uint8_t)(sum >> ANTIALIAS_BITS);
}

#endif
