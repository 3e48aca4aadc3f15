#ifndef MEDIA_RESIZE_SUMS_H
#define MEDIA_RESIZE_SUMS_H

/* The integer arithmetic of a resized byte. */

#include <stdint.h>

/* Sums of the bilinear weights of a column and of a row.  media/resize.isa.c
 * derives them. */
#define RESIZE_ACROSS 255
#define RESIZE_DOWN 8224

#define ANTIALIAS_BITS 22	/* weights in units of 2^-22, as in Pillow */
#define ANTIALIAS_HALF (1 << (ANTIALIAS_BITS - 1))

/*
 * Bilinear, across a line of pixels, then down two lines:
 *	across = (p - 128) w0 + (next - 128) w1
 *	down = ([a w0 / 2^15] + [b w1 / 2^15]) / 2^6 + 128
 * where the brackets round to nearest, and so does the last division.
 */
static inline int16_t
resize_across(uint8_t p, uint8_t next, int w0, int w1)
{
	return (int16_t)((p - 128) * w0 + (next - 128) * w1);
}

static inline uint8_t
resize_down(int16_t a, int16_t b, int16_t w0, int16_t w1)
{
	int16_t u = (int16_t)((a * w0 + (1 << 14)) >> 15);
	int16_t v = (int16_t)((b * w1 + (1 << 14)) >> 15);

	return (uint8_t)(((int16_t)(u + v + 32) >> 6) + 128);
}

/*
 * Antialiased: byte = (2^21 + sum of weights times bytes) / 2^22.
 * The caller adds the products to a sum that begins with ANTIALIAS_HALF.
 */
static inline uint8_t
resize_byte(int32_t sum)
{
	return (uint8_t)(sum >> ANTIALIAS_BITS);
}

#endif
