#ifndef BACKEND_CPU_WIDE_H
#define BACKEND_CPU_WIDE_H

/*
 * Vector operations on the type vec, which the includer defines.  They use one
 * instruction where the instruction set has it.
 *
 * FMA(a, b, c)	a b + c, rounded once if the processor can
 * STREAM(to, v)	store past the caches; ${to} is aligned like a vector
 * STREAMED()	order earlier streamed stores before later stores, so that
 *		other threads see them
 */

#ifdef __AVX2__
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define FMA(a, b, c) ((vec)_mm512_fmadd_ps((__m512)(a), (__m512)(b), \
    (__m512)(c)))
#define STREAM(to, v) _mm512_stream_ps(to, (__m512)(v))
#define STREAMED() _mm_sfence()
#elif defined(__AVX2__) && defined(__FMA__)
#define FMA(a, b, c) ((vec)_mm256_fmadd_ps((__m256)(a), (__m256)(b), \
    (__m256)(c)))
#define STREAM(to, v) _mm256_stream_ps(to, (__m256)(v))
#define STREAMED() _mm_sfence()
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#define STREAM(to, v) (*(vec *)(to) = (v))
#define STREAMED() ((void)0)
#endif

#endif
