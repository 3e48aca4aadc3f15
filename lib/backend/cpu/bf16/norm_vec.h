#ifndef BACKEND_CPU_BF16_NORM_VEC_H
#define BACKEND_CPU_BF16_NORM_VEC_H

/*
 * Rows of bf16 as vectors of 16 floats, for the kernels of normalization
 * (norm.isa.c).  Vectors are passed by address, because an ABI passes them by
 * value only with the instruction set.
 *
 * FMA(r, a, b, c)	r = a b + c, rounded once if the set can
 * STREAMED()		order streamed stores before later stores
 */

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "backend/cpu/bf16/norm_kernels.h"

#define L 16

typedef float vec __attribute__((vector_size(4 * L), aligned(4)));
typedef uint32_t uvec __attribute__((vector_size(4 * L), aligned(2)));
typedef int32_t ivec __attribute__((vector_size(4 * L), aligned(4)));
typedef uint16_t hvec __attribute__((vector_size(2 * L), aligned(2)));

#define AT(p, i) (*(vec *)((p) + (i)))
#define CAT(p, i) (*(const vec *)((p) + (i)))
#define ODD 0xffff0000u

#if defined(__AVX512F__)

#define INLINE static inline __attribute__((always_inline))
#define FMA(r, a, b, c) ((r) = (vec)_mm512_fmadd_ps((__m512)(a), (__m512)(b), \
    (__m512)(c)))
#define STREAMED() _mm_sfence()

/*
 * bf16_norm_round16(r, v, even):
 * Round to bf16, to nearest, ties to even, in the upper 16 bits.  NaN stays
 * NaN.
 *
 * If ${even} is not 0, the lower 16 bits of every NaN must be 0, so that
 * rounding cannot carry into the upper ones.  This holds for NaNs that come
 * from bf16 or that arithmetic produces.  Omitting the test for other NaNs
 * saves 10 % of a forward pass.
 */
INLINE void
bf16_norm_round16(uvec *r, const vec *v, int even)
{
	const __m512i u = (__m512i)*v, one = _mm512_set1_epi32(1);
	__m512i near = _mm512_add_epi32(_mm512_add_epi32(u,
	    _mm512_set1_epi32(0x7fff)),
	    _mm512_and_si512(_mm512_srli_epi32(u, 16), one));

	if (!even)
		near = _mm512_mask_or_epi32(near, _mm512_cmp_ps_mask((__m512)*v,
		    (__m512)*v, _CMP_UNORD_Q), u, _mm512_set1_epi32(0x400000));
	*r = (uvec)near;
}

/* bf16_norm_put(p, r, stream): store a vector, past the caches if ${stream}. */
INLINE void
bf16_norm_put(bf16 *p, const uvec *r, int stream)
{
	if (stream)
		_mm512_stream_si512((void *)p, (__m512i)*r);
	else
		*(uvec *)p = *r;
}

/*
 * bf16_norm_above(v), bf16_norm_keep(v, bits):
 * Return one bit per lane, 1 if v is above 0 or NaN.  Set the lanes whose bit
 * is 0 to 0.
 */
INLINE unsigned
bf16_norm_above(const vec *v)
{
	return _mm512_cmp_ps_mask((__m512)*v, _mm512_setzero_ps(), _CMP_NLE_UQ);
}

INLINE void
bf16_norm_keep(vec *v, unsigned bits)
{
	*v = (vec)_mm512_maskz_mov_ps((__mmask16)bits, (__m512)*v);
}

#else

#define INLINE static			/* bf16 runs with AVX-512 only */
#define FMA(r, a, b, c) ((r) = (a) * (b) + (c))
#define STREAMED() ((void)0)

INLINE void
bf16_norm_round16(uvec *r, const vec *v, int even)
{
	const uvec u = (uvec)*v, is = (uvec)(*v != *v);

	(void)even;
	*r = ((u | 0x400000) & is) | ((u + 0x7fff + (u >> 16 & 1)) & ~is);
}

INLINE void
bf16_norm_put(bf16 *p, const uvec *r, int stream)
{
	(void)stream;
	*(uvec *)p = *r;
}

INLINE unsigned
bf16_norm_above(const vec *v)
{
	unsigned bits = 0;

	for (int c = 0; c < L; c++)
		bits |= (unsigned)!((*v)[c] <= 0) << c;
	return bits;
}

INLINE void
bf16_norm_keep(vec *v, unsigned bits)
{
	for (int c = 0; c < L; c++)
		(*v)[c] = bits >> c & 1 ? (*v)[c] : 0;
}

#endif

/*
 * bf16_norm_load(v, p, two), bf16_norm_store(p, v, two, even, stream):
 * Load or store 32 numbers, the even ones in v[0] and the odd ones in v[1], or
 * 16 in v[0] if ${two} is 0.  ${even} is that of bf16_norm_round16.
 */
INLINE void
bf16_norm_load(vec v[2], const bf16 *p, int two)
{
	if (two) {
		const uvec u = *(const uvec *)p;

		v[0] = (vec)(u << 16);
		v[1] = (vec)(u & ODD);
	} else {
		v[0] = (vec)(__builtin_convertvector(*(const hvec *)p, uvec) <<
		    16);
	}
}

INLINE void
bf16_norm_store(bf16 *p, const vec v[2], int two, int even, int stream)
{
	uvec r[2];

	bf16_norm_round16(&r[0], &v[0], even);
	if (!two) {
		*(hvec *)p = __builtin_convertvector(r[0] >> 16, hvec);
		return;
	}
	bf16_norm_round16(&r[1], &v[1], even);
	r[0] = r[0] >> 16 | (r[1] & ODD);
	bf16_norm_put(p, &r[0], stream);
}

/* Call f(..., k, two) for all channels k of a window. */
#define CHANNELS(c, f, ...) do { \
	int k = 0; \
	for (; k + 2 * L <= (c); k += 2 * L) \
		f(__VA_ARGS__, k, 1); \
	if (k < (c)) \
		f(__VA_ARGS__, k, 0); \
} while (0)

#endif
