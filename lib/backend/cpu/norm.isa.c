/*
 * Kernels of batch normalization over blocks of fp32 channels; norm_kernels.h
 * has the formulas.  A row is one vector.
 */
#include "backend/cpu/norm_vec.h"

typedef float number;

enum { WINDOWS = 0, AHEAD = 0 };

#define MADD(r, a, b, c) ((r) = (a) * (b) + (c))
#define CHANNELS(c, f, ...) f(__VA_ARGS__, 0, 0)

INLINE void
norm_load(vec v[2], const float *p, int two)
{
	(void)two;
	v[0] = CAT(p, 0);
}

INLINE void
norm_store(float *p, const vec v[2], int two, int even, int stream)
{
	(void)two;
	(void)even;
	if (stream)
		STREAM(p, v[0]);
	else
		AT(p, 0) = v[0];
}

/* d = d a + x b + c */
INLINE void
norm_factor(vec *d, const vec *x, const vec *a, const vec *b, const vec *c)
{
	*d = *d * *a + *x * *b + *c;
}

static void
norm_mix_rows(float *to, const struct norm_mix *m, size_t rows)
{
	const struct norm_mix f = *m;

	for (size_t r = 0; r < rows; r++) {
		ivec v = { 0 };

		for (int k = 0; k < 3; k++)
			v |= *(const ivec *)(f.from[k] + r * f.row[k]) &
			    *(const ivec *)f.lane[k];
		AT(to, r * L) = (vec)v;
	}
}

#define TABLE norm_kernels
#define MIX norm_mix_rows
#include "backend/cpu/norm_body.h"

/*
 * mean = sum of x / rows, m2 = sum of (x - mean)^2
 *
 * Two passes over a plane that is in the cache.  One pass, the sum of x^2
 * minus rows mean^2, would cancel digits.
 */
static void
norm_stats(const void *plane, size_t rows, int c, float *mean, float *m2)
{
	const float *x = plane;
	vec s[4] = { { 0 } }, m;
	size_t i = 0;

	(void)c;
	/* Four running sums hide the latency of an addition. */
	for (; i + 4 <= rows; i += 4)
		for (size_t k = 0; k < 4; k++)
			s[k] += CAT(x, (i + k) * L);
	for (; i < rows; i++)
		s[0] += CAT(x, i * L);
	m = ((s[0] + s[1]) + (s[2] + s[3])) / (float)rows;
	for (int k = 0; k < 4; k++)
		s[k] = (vec){ 0 };
	for (i = 0; i + 4 <= rows; i += 4)
		for (size_t k = 0; k < 4; k++) {
			vec d = CAT(x, (i + k) * L) - m;

			s[k] += d * d;
		}
	for (; i < rows; i++) {
		vec d = CAT(x, i * L) - m;

		s[0] += d * d;
	}
	AT(mean, 0) = m;
	AT(m2, 0) = (s[0] + s[1]) + (s[2] + s[3]);
}
