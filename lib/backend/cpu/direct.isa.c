/*
 * Kernels of direct convolutions: sums over taps and channels,
 *
 *	y[r][o] = sum over units, c of x[unit][r][c] w[unit][c][o]
 *
 * The sums of a tile of positions by two blocks of output channels stay in
 * registers.  They are added in the order of the packed weights, so a result
 * does not depend on the other positions of its tile.
 */
#include <string.h>

#include "backend/cpu/direct_kernels.h"
#include "backend/cpu/vec.h"
#include "backend/cpu/wide.h"

/*
 * Positions of a tile.  With two blocks, the sums leave registers for two
 * vectors of weights and one of input: 28 of 32 hold sums with AVX-512, 12 of
 * 16 with AVX2.
 */
#if defined(__AVX512F__)
#define ROWS 14
#elif defined(__FMA__)
#define ROWS 6
#else
#define ROWS 3
#endif

INLINE void
direct_kernel_put(float *to, const vec *v, int stream)
{
	if (stream)
		STREAM(to, *v);
	else
		*(vec *)to = *v;
}

/*
 * to[r][o] = start[o], or to[r][o], + sum over units, c of x[unit][r][c]
 * w[unit][c][o]
 */
INLINE void
direct_kernel_sums(float *const *to, size_t at, int n, size_t next,
    const int wide, const float *x, size_t step, const float *then,
    const float *w, int units, const float *start, const int more, int stream)
{
	vec s[ROWS][2];

#pragma GCC unroll 14
	for (int r = 0; r < ROWS; r++) {
		const float *from = to[r < n ? r : 0] + at;

		s[r][0] = more ? AT(from, 0) : AT(start, 0);
		if (wide > 1)
			s[r][1] = more ? AT(from + next, 0) : AT(start, 1);
	}
	/*
	 * Prefetch the next unit of this tile into L1, and the input of the
	 * next tile into L2.
	 */
	for (int u = 0; u < units; u++, x += step) {
		const float *prefetch = u + 1 < units ? x + step : then;
		const float *after = then + (size_t)u * step;
		const float *sum = to[0] + at + ROWS * L +
		    (u < wide ? (size_t)u * next : 0);

		for (int c = 0; c < L; c++, w += wide * L) {
			const vec w0 = AT(w, 0), w1 = AT(w, wide - 1);

			__builtin_prefetch(prefetch + c * L);
			__builtin_prefetch(after + c * L, 0, 2);
			if (more)
				__builtin_prefetch(sum + c * L, 1);
#pragma GCC unroll 14
			for (int r = 0; r < ROWS; r++) {
				const vec a = x[r * L + c] - (vec){ 0 };

				s[r][0] = FMA(a, w0, s[r][0]);
				if (wide > 1)
					s[r][1] = FMA(a, w1, s[r][1]);
			}
		}
	}
#pragma GCC unroll 14
	for (int r = 0; r < ROWS; r++)
		if (r < n) {
			direct_kernel_put(to[r] + at, &s[r][0], stream);
			if (wide > 1)
				direct_kernel_put(to[r] + at + next, &s[r][1],
				    stream);
		}
}

/* Compile each case with constants, so that its loop has no branches. */
static void
direct_kernel_product(float *const *to, size_t at, int n, size_t next, int wide,
    const float *x, size_t step, const float *then, const float *w, int units,
    const float *start, int how)
{
	int stream = how & DIRECT_STREAM;

	if (wide > 1 && how & DIRECT_MORE)
		direct_kernel_sums(to, at, n, next, 2, x, step, then, w, units,
		    start, 1, stream);
	else if (wide > 1)
		direct_kernel_sums(to, at, n, next, 2, x, step, then, w, units,
		    start, 0, stream);
	else if (how & DIRECT_MORE)
		direct_kernel_sums(to, at, n, next, 1, x, step, then, w, units,
		    start, 1, stream);
	else
		direct_kernel_sums(to, at, n, next, 1, x, step, then, w, units,
		    start, 0, stream);
}

static void
direct_kernel_streamed(void)
{
	STREAMED();
}

/* Interleave the lanes of two vectors: the first halves, the second halves. */
#if L == 16
#define FIRST(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, \
    4, 20, 5, 21, 6, 22, 7, 23)
#define SECOND(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, \
    27, 12, 28, 13, 29, 14, 30, 15, 31)
#else
#define FIRST(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define SECOND(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#endif

/*
 * to = transpose of from.  Take row and lane as one number: each round rotates
 * it by one bit, and log2 L rounds exchange row and lane.
 */
static void
direct_kernel_turn(float *to, size_t to_step, const float *from, size_t step)
{
	vec v[L], t[L];

	for (int i = 0; i < L; i++)
		v[i] = AT(from + (size_t)i * step, 0);
#pragma GCC unroll 4
	for (int n = 1; n < L; n *= 2) {
#pragma GCC unroll 8
		for (int i = 0; i < L / 2; i++) {
			t[2 * i] = FIRST(v[i], v[i + L / 2]);
			t[2 * i + 1] = SECOND(v[i], v[i + L / 2]);
		}
		memcpy(v, t, sizeof(v));
	}
	for (int i = 0; i < L; i++)
		*(vec *)(to + (size_t)i * to_step) = v[i];
}

/* tile[b][r] = from[r][b plane], zeros if NULL */
static void
direct_kernel_gather(float *tile, const float *const *from, int n, size_t plane,
    int blocks)
{
	for (int b = 0; b < blocks; b++, tile += ROWS * L)
		for (int r = 0; r < n; r++) {
			const float *x = from[r];

			if (x == NULL) {
				*(vec *)(tile + r * L) = (vec){ 0 };
				continue;
			}
			x += (size_t)b * plane;
			__builtin_prefetch(x + 2 * plane);
			*(vec *)(tile + r * L) = AT(x, 0);
		}
}

const struct direct_kernels ISA_PASTE(direct_kernels, VT_ISA) = {
	.rows = ROWS, .product = direct_kernel_product,
	.streamed = direct_kernel_streamed, .transpose = direct_kernel_turn,
	.gather = direct_kernel_gather,
};
