/*
 * The loops of wire.c.  Conversions use integer arithmetic without branches, so
 * that compilers vectorize them and every instruction set gives the same bits.
 */
#include <string.h>

#include "comm/wire_kernels.h"

#define INF32 0x7f800000u

static inline uint32_t
wire_kernel_bits_of(float x)
{
	uint32_t u;

	memcpy(&u, &x, sizeof(u));
	return u;
}

static inline float
wire_kernel_float_of(uint32_t u)
{
	float x;

	memcpy(&x, &u, sizeof(x));
	return x;
}

/* sum[i] += x[i] */
static void
wire_kernel_sum(float *sum, const float *restrict x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum[i] += x[i];
}

/* The upper 16 bits, rounded to nearest, ties to even.  A NaN stays a NaN. */
static inline uint16_t
wire_kernel_to_bf16(float x)
{
	uint32_t u = wire_kernel_bits_of(x);
	uint32_t rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
	uint32_t nan = u >> 16 | 0x40;

	return (uint16_t)((u & 0x7fffffff) > INF32 ? nan : rounded);
}

static inline float
wire_kernel_from_bf16(uint16_t h)
{
	return wire_kernel_float_of((uint32_t)h << 16);
}

static void
wire_kernel_bf16_pack(uint16_t *restrict to, const float *restrict x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = wire_kernel_to_bf16(x[i]);
}

static void
wire_kernel_bf16_unpack(float *restrict x, const uint16_t *restrict from,
    size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = wire_kernel_from_bf16(from[i]);
}

/* sum[i] += fp32(from[i]) */
static void
wire_kernel_bf16_add(float *restrict sum, const uint16_t *restrict from,
    size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum[i] += wire_kernel_from_bf16(from[i]);
}

/* max |x[i]|, as bits: magnitudes compare like integers. */
static uint32_t
wire_kernel_largest(const float *x, size_t n)
{
	uint32_t largest = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t u = wire_kernel_bits_of(x[i]) & 0x7fffffff;

		largest = u > largest ? u : largest;
	}
	return largest;
}

/*
 * fp16 has five bits of exponent and ten of fraction; round to nearest, ties to
 * even.  Below 2^-14 its unit is 2^-24, which is also the unit of fp32 between
 * 1/2 and 1.  So adding 1/2 in fp32 rounds to it.
 */
static inline uint16_t
wire_kernel_to_fp16(float x)
{
	uint32_t u = wire_kernel_bits_of(x), sign = u >> 16 & 0x8000;
	uint32_t m = u & 0x7fffffff;
	uint32_t normal = (m + 0xfff + (m >> 13 & 1) - 0x38000000) >> 13;
	uint32_t small = wire_kernel_bits_of(wire_kernel_float_of(m) + 0.5f) -
	    0x3f000000;
	uint32_t h = m < 0x38800000 ? small : normal;

	h = m >= 0x47800000 ? 0x7c00 : h;
	h = m > INF32 ? 0x7e00 : h;
	return (uint16_t)(sign | h);
}

static inline float
wire_kernel_from_fp16(uint16_t h)
{
	uint32_t m = h & 0x7fff, sign = (uint32_t)(h & 0x8000) << 16;
	uint32_t normal = (m << 13) + (m >= 0x7c00 ? 0x70000000 : 0x38000000);
	uint32_t small = wire_kernel_bits_of((float)(int32_t)m * 0x1p-24f);

	return wire_kernel_float_of(sign | (m < 0x400 ? small : normal));
}

/* to[i] = fp16(scale * x[i]) */
static void
wire_kernel_fp16_pack(uint16_t *restrict to, const float *restrict x, size_t n,
    float scale)
{
	for (size_t i = 0; i < n; i++)
		to[i] = wire_kernel_to_fp16(x[i] * scale);
}

/* x[i] = scale * fp32(from[i]) */
static void
wire_kernel_fp16_unpack(float *restrict x, const uint16_t *restrict from,
    size_t n, float scale)
{
	for (size_t i = 0; i < n; i++)
		x[i] = wire_kernel_from_fp16(from[i]) * scale;
}

/*
 * sum[i] += scale * fp32(from[i]).  A product with a power of two is exact,
 * whether or not the compiler fuses it with the addition.
 */
static void
wire_kernel_fp16_add(float *restrict sum, const uint16_t *restrict from,
    size_t n, float scale)
{
	for (size_t i = 0; i < n; i++)
		sum[i] += wire_kernel_from_fp16(from[i]) * scale;
}

const struct wire_kernels ISA_PASTE(wire_kernels, VT_ISA) = {
	.sum = wire_kernel_sum, .bf16_pack = wire_kernel_bf16_pack,
	.bf16_unpack = wire_kernel_bf16_unpack,
	.bf16_add = wire_kernel_bf16_add, .largest = wire_kernel_largest,
	.fp16_pack = wire_kernel_fp16_pack,
	.fp16_unpack = wire_kernel_fp16_unpack, .fp16_add = wire_kernel_fp16_add
};
