#ifndef BACKEND_CPU_VEC_H
#define BACKEND_CPU_VEC_H

/*
 * The L lanes of a position as one vector, for *.isa.c.  These files use it
 * where the compiler does not vectorize a loop over lanes.  Loads and stores
 * need no alignment beyond that of a float.
 */

#include <stdint.h>

#ifdef __AVX512F__
#define L 16
#else
#define L 8
#endif

typedef float vec __attribute__((vector_size(4 * L), aligned(4)));
typedef int32_t ivec __attribute__((vector_size(4 * L), aligned(4)));
typedef uint8_t bytes __attribute__((vector_size(L), aligned(1)));

#define AT(p, i) (*(const vec *)((p) + (i) * L))
#define LANES(c) for (int c = 0; c < L; c++)
#define INLINE static inline __attribute__((always_inline))

#endif
