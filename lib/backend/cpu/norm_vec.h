#ifndef BACKEND_CPU_NORM_VEC_H
#define BACKEND_CPU_NORM_VEC_H

/*
 * Vectors of L floats for the kernels of normalization.  The includer may
 * define L; otherwise it is cpu_lanes().  Vectors are passed by address,
 * because an ABI passes them by value only with the instruction set.
 *
 * AT(p, i), CAT(p, i)	the vector at p + i, to write and to read
 */

#include <string.h>

#include "backend/cpu/norm_kernels.h"
#include "backend/cpu/wide.h"
#include "base/isa.h"

#ifndef L
#ifdef __AVX512F__
#define L 16
#else
#define L 8
#endif
#endif

typedef float vec __attribute__((vector_size(4 * L), aligned(4)));
typedef int32_t ivec __attribute__((vector_size(4 * L), aligned(4)));

#define AT(p, i) (*(vec *)((p) + (i)))
#define CAT(p, i) (*(const vec *)((p) + (i)))
#define INLINE static inline __attribute__((always_inline))

/*
 * norm_gate(v, y): set v to 0 where y <= 0, and return one bit per lane, 1
 * where y is above 0 or NaN.  ${v} may be ${y}.
 * norm_keep(v, bits): set the lanes of v whose bit is 0 to 0.
 */
#if defined(__AVX512F__)

INLINE void
norm_keep(vec *v, unsigned bits)
{
	*v = (vec)_mm512_maskz_mov_ps((__mmask16)bits, (__m512)*v);
}

INLINE unsigned
norm_gate(vec *v, const vec *y)
{
	unsigned bits = _mm512_cmp_ps_mask((__m512)*y, _mm512_setzero_ps(),
	    _CMP_NLE_UQ);

	norm_keep(v, bits);
	return bits;
}

#else

#if defined(__AVX2__) && L == 8
#define BITS(open) ((unsigned)_mm256_movemask_ps((__m256)(open)))
#else
#define BITS(open) norm_bits(&(open))

INLINE unsigned
norm_bits(const ivec *open)
{
	unsigned bits = 0;

	for (int c = 0; c < L; c++)
		bits |= ((unsigned)(*open)[c] & 1) << c;
	return bits;
}
#endif

INLINE void
norm_keep(vec *v, unsigned bits)
{
	ivec bit;

	for (int c = 0; c < L; c++)
		bit[c] = 1 << c;
	*v = (vec)((ivec)*v & ((bit & (int32_t)bits) != 0));
}

INLINE unsigned
norm_gate(vec *v, const vec *y)
{
	const ivec open = ~(*y <= 0);

	*v = (vec)((ivec)*v & open);
	return BITS(open);
}

#endif

#endif
