#ifndef BACKEND_CPU_WIDE_H
#define BACKEND_CPU_WIDE_H

/*
 * What vectors of floats, whose type the includer calls vec, do by an
 * instruction where the set has it:
 *
 * FMA(a, b, c): a b + c, rounded once where the machine can.
 * STREAM(to, v): a store past the caches; ${to} is aligned as a vector is.
 * STREAMED(): after the last of them: others see such stores only then.
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
