#ifndef BACKEND_CUDA_STORED_H
#define BACKEND_CUDA_STORED_H

/*
 * Storage types f32, bf16 and f16, and their conversions to float, in which all
 * arithmetic is done.  widen_T converts to float.  narrow_T rounds to nearest
 * even and maps all NaNs to one.  The device uses the cvt instructions (PTX
 * ISA); the host functions give the same bits.
 *
 * Memory is accessed in vectors of 16 bytes, lanes_T elements, which unpack_T
 * and pack_T convert.  All memory of the back end begins at a multiple of 16
 * bytes.
 */

#include <string.h>

#include "backend/cuda/kernel.h"

#define stored_f32	float
#define stored_bf16	uint16_t
#define stored_f16	uint16_t
#define lanes_f32	4
#define lanes_bf16	8
#define lanes_f16	8

/* In a body: the storage type, and its elements per vector. */
#define S	OF(stored)
#define LANES	OF(lanes)

#ifdef __CUDACC__
struct __align__(16) vector16 { uint32_t w[4]; };
#else
struct vector16 { _Alignas(16) uint32_t w[4]; };
#endif

/*
 * Access 16 bytes of device memory, at a multiple of 16, in one instruction.
 * For a plain structure assignment the compiler emitted one access in some
 * places and four in others.
 */
#ifdef __CUDACC__

INLINE struct vector16
vector16_load(const void *from)
{
	struct vector16 v;

	asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
	    : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3])
	    : "l"(__cvta_generic_to_global(from)) : "memory");
	return v;
}

INLINE void
vector16_store(void *to, struct vector16 v)
{
	asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
	    : : "l"(__cvta_generic_to_global(to)), "r"(v.w[0]), "r"(v.w[1]),
	    "r"(v.w[2]), "r"(v.w[3]) : "memory");
}

#else

INLINE struct vector16
vector16_load(const void *from)
{
	return *(const struct vector16 *)from;
}

INLINE void
vector16_store(void *to, struct vector16 v)
{
	*(struct vector16 *)to = v;
}

#endif

/* The bits of a float, and back. */
INLINE uint32_t
stored_float_bits(float v)
{
	uint32_t w;

	memcpy(&w, &v, sizeof(w));
	return w;
}

INLINE float
stored_bits_float(uint32_t w)
{
	float v;

	memcpy(&v, &w, sizeof(v));
	return v;
}

INLINE float
widen_f32(float v)
{
	return v;
}

INLINE float
narrow_f32(float v)
{
	return v;
}

INLINE float
widen_bf16(uint16_t v)
{
	return stored_bits_float((uint32_t)v << 16);
}

#ifdef __CUDACC__

INLINE uint16_t
narrow_bf16(float v)
{
	uint16_t w;

	asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(w) : "f"(v));
	return w;
}

INLINE float
widen_f16(uint16_t w)
{
	float v;

	asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(w));
	return v;
}

INLINE uint16_t
narrow_f16(float v)
{
	uint16_t w;

	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(w) : "f"(v));
	return w;
}

/* Convert two floats and pack them in a word, the first in the low half. */
INLINE uint32_t
pair_bf16(float low, float high)
{
	uint32_t w;

	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(high), "f"(low));
	return w;
}

INLINE uint32_t
pair_f16(float low, float high)
{
	uint32_t w;

	asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(high), "f"(low));
	return w;
}

#else

INLINE uint16_t
narrow_bf16(float v)
{
	uint32_t w = stored_float_bits(v);

	if (v != v)
		return 0x7fff;
	return (uint16_t)((w + 0x7fff + (w >> 16 & 1)) >> 16);
}

INLINE float
widen_f16(uint16_t v)
{
	uint32_t sign = (uint32_t)(v & 0x8000) << 16, e = v >> 10 & 31,
	    m = v & 0x3ff;

	if (e == 31)
		return stored_bits_float(sign | 0x7f800000 | m << 13);
	if (e > 0)
		return stored_bits_float(sign | (e + 112) << 23 | m << 13);
	return sign ? -(float)m * 0x1p-24f : (float)m * 0x1p-24f;
}

INLINE uint16_t
narrow_f16(float v)
{
	uint32_t w = stored_float_bits(v), sign = w >> 16 & 0x8000, low;

	w &= 0x7fffffff;
	if (v != v)
		return 0x7fff;
	if (w >= 0x47800000)		/* 2^16: infinity */
		return (uint16_t)(sign | 0x7c00);
	if (w < 0x38800000) {		/* subnormal results */
		/* units of 2^-24 */
		low = stored_float_bits(stored_bits_float(w) + 0.5f);
		return (uint16_t)(sign | (low - 0x3f000000));
	}
	w += 0xfff + (w >> 13 & 1);
	return (uint16_t)(sign | (w - 0x38000000) >> 13);
}

INLINE uint32_t
pair_bf16(float low, float high)
{
	return (uint32_t)narrow_bf16(high) << 16 | narrow_bf16(low);
}

INLINE uint32_t
pair_f16(float low, float high)
{
	return (uint32_t)narrow_f16(high) << 16 | narrow_f16(low);
}

#endif

/* Convert between 16 bytes and floats. */
INLINE void
unpack_f32(struct vector16 v, float *f)
{
	EACH(i, 4)
		f[i] = stored_bits_float(v.w[i]);
}

INLINE struct vector16
pack_f32(const float *f)
{
	struct vector16 v;

	EACH(i, 4)
		v.w[i] = stored_float_bits(f[i]);
	return v;
}

#define STORED_HALF(type) \
INLINE void \
unpack_ ## type(struct vector16 v, float *f) \
{ \
	EACH(i, 4) { \
		f[2 * i] = widen_ ## type((uint16_t)v.w[i]); \
		f[2 * i + 1] = widen_ ## type((uint16_t)(v.w[i] >> 16)); \
	} \
} \
\
INLINE struct vector16 \
pack_ ## type(const float *f) \
{ \
	struct vector16 v; \
\
	EACH(i, 4) \
		v.w[i] = pair_ ## type(f[2 * i], f[2 * i + 1]); \
	return v; \
}

STORED_HALF(bf16)
STORED_HALF(f16)

#endif
