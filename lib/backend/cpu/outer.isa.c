/*
 * Sums of outer products:
 *
 *	m[o][i] = sum over positions p of y[p][o] x[p][i]
 *
 * With AVX-512, 16 vectors of 16 sums stay in registers, and each
 * multiplication reads its y from memory: 17 loads for 16 multiplications.
 * Shapes with fewer loads, 8 by 2, 8 by 3, 6 by 4 or 12 by 2 vectors, do not
 * help: all reach 145 GF/s on one thread.  They execute 1.5 times as many
 * instructions, and are slower if another thread runs on the same core: 73
 * GF/s instead of 86.
 */
#include "backend/cpu/outer_kernels.h"
#include "backend/cpu/vec.h"
#include "backend/cpu/wide.h"

/* m[r] (+)= sum of y[r] x, one vector of x at a time */
INLINE void
outer_kernel_sum_places(float *m, const float *x, const float *y,
    const struct outer_range *w, int more, int fetch, const float *prefetch,
    const size_t step[3])
{
	vec s[L];

#pragma GCC unroll 16
	for (int r = 0; r < L; r++)
		s[r] = more ? AT(m, r) : (vec){ 0 };
	for (size_t i = 0; i < (size_t)w->images; i++)
		for (size_t j = 0; j < (size_t)w->rows; j++) {
			const float *in = x + w->x[0] * i + w->x[1] * j;
			const float *out = y + w->y[0] * i + w->y[1] * j;
			const float *next = fetch ? prefetch + step[0] * i +
			    step[1] * j : NULL;

#pragma GCC unroll 4
			for (int k = 0; k < w->cols; k++) {
				const vec v = AT(in, 0);

				if (fetch) {
					__builtin_prefetch(next, 0, 2);
					next += step[2];
				}
#pragma GCC unroll 16
				for (int r = 0; r < L; r++)
					s[r] = FMA(out[r] - (vec){ 0 }, v,
					    s[r]);
				in += w->x[2];
				out += L;
			}
		}
#pragma GCC unroll 16
	for (int r = 0; r < L; r++)
		*(vec *)(m + r * L) = s[r];
}

/*
 * m[o][i] (+)= sum of y[o] x[i] over the positions of w; with or without
 * prefetch
 */
static void
outer_kernel_sum(float *m, const float *x, const float *y,
    const struct outer_range *w, int more, const float *prefetch,
    const size_t step[3])
{
	if (prefetch != NULL)
		outer_kernel_sum_places(m, x, y, w, more, 1, prefetch, step);
	else
		outer_kernel_sum_places(m, x, y, w, more, 0, NULL, NULL);
}

const struct outer_kernels ISA_PASTE(outer_kernels,
    VT_ISA) = { .sum = outer_kernel_sum };
