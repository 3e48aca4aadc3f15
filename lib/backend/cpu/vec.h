#ifndef BACKEND_CPU_VEC_H
#define BACKEND_CPU_VEC_H

/*
 * A place's lanes as one vector, for *.isa.c: what the compiler is given where
 * it does not see through a loop over lanes.
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
