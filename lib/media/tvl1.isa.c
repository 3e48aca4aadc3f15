/*
 * The inner loops of TV-L1 (tvl1.h).
 *
 * One iteration, for both components of u (Zach et al., equations 13 to 15):
 *
 *	rho = rho_0 + grad . u
 *	v = u + clamp(-rho / |grad|^2, -lambda theta, lambda theta) grad
 *	u' = v + theta div p
 *	p' = (p + tau / theta grad u') / (1 + tau / theta |grad u'|)
 *
 * div takes backward differences, with p = 0 outside.  grad u takes forward
 * differences, which are 0 at the last row and column.
 */
#include <math.h>
#include <stddef.h>

#include "media/tvl1.h"

#define STEP (TVL1_TAU / TVL1_THETA)

static inline float
tvl1_clamp(float v, float limit)
{
	v = v < -limit ? -limit : v;
	return v > limit ? limit : v;
}

/* The iterations of the next loop do not depend on each other. */
#ifdef __clang__
#define INDEPENDENT	_Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT	_Pragma("GCC ivdep")
#endif

void
ISA(tvl1_primal)(const struct tvl1_rows *r, int n)
{
	float *u = r->u[0], *v = r->u[1], *change = r->change;
	const float *ux = r->p[0][0], *uy = r->p[0][1],
	    *u_above = r->p_above[0];
	const float *vx = r->p[1][0], *vy = r->p[1][1],
	    *v_above = r->p_above[1];
	const float *gx = r->grad[0], *gy = r->grad[1];
	const float *rho = r->rho, *inverse = r->inverse;

	INDEPENDENT
	for (int i = 0; i < n; i++) {
		float k = tvl1_clamp((rho[i] + (gx[i] * u[i] + gy[i] * v[i])) *
		    inverse[i], TVL1_LAMBDA * TVL1_THETA);
		float du = k * gx[i] + TVL1_THETA *
		    ((ux[i] - ux[i - 1]) + (uy[i] - u_above[i]));
		float dv = k * gy[i] + TVL1_THETA *
		    ((vx[i] - vx[i - 1]) + (vy[i] - v_above[i]));

		u[i] += du;
		v[i] += dv;
		change[i] += du * du + dv * dv;
	}
}

/* Update p of one component of u. */
static inline void
tvl1_dual_part(float *restrict px, float *restrict py, const float *restrict u,
    const float *restrict below, int n)
{
	for (int i = 0; i < n; i++) {
		float dx = u[i + 1] - u[i], dy = below[i] - u[i];
		float k = 1 / (1 + STEP * sqrtf(dx * dx + dy * dy));

		px[i] = (px[i] + STEP * dx) * k;
		py[i] = (py[i] + STEP * dy) * k;
	}
}

void
ISA(tvl1_dual)(const struct tvl1_rows *r, int n)
{
	for (int c = 0; c < 2; c++)
		tvl1_dual_part(r->p[c][0], r->p[c][1], r->u[c], r->u_below[c],
		    n);
}

/* Put two values in order. */
#define ORDER(a, b) do { \
	float low = a < b ? a : b; \
	b = a < b ? b : a; \
	a = low; \
} while (0)
/* Sort five values. */
#define SORT5(a, b, c, d, e) do { \
	ORDER(a, b); ORDER(d, e); ORDER(c, e); ORDER(c, d); ORDER(b, e); \
	ORDER(a, d); ORDER(a, c); ORDER(b, d); ORDER(b, c); \
} while (0)

/* Move the least of these values to the first, and the greatest to the last. */
#define ENDS4(a, b, c, d) do { \
	ORDER(a, b); ORDER(c, d); ORDER(a, c); ORDER(b, d); \
} while (0)
#define ENDS5(a, b, c, d, e) do { \
	ENDS4(a, b, c, d); ORDER(a, e); ORDER(d, e); \
} while (0)
#define ENDS6(a, b, c, d, e, f) do { \
	ORDER(a, d); ORDER(b, e); ORDER(c, f); \
	ORDER(a, b); ORDER(a, c); ORDER(e, f); ORDER(d, f); \
} while (0)
#define ENDS7(a, b, c, d, e, f, g) do { \
	ORDER(a, e); ORDER(b, f); ORDER(c, g); ORDER(a, b); ORDER(c, d); \
	ORDER(a, c); ORDER(f, g); ORDER(d, e); ORDER(e, g); \
} while (0)

#define SPAN 256		/* elements whose sorted columns fit in cache */

/* Sort each of ${n} columns of five elements: s[0] has the least. */
static inline void
tvl1_sort_columns(float s[5][SPAN + 4], const float *const from[5], int x,
    int n)
{
	const float *f0 = from[0] + x, *f1 = from[1] + x, *f2 = from[2] + x;
	const float *f3 = from[3] + x, *f4 = from[4] + x;

	for (int i = 0; i < n; i++) {
		float a = f0[i], b = f1[i], c = f2[i], d = f3[i], e = f4[i];

		SORT5(a, b, c, d, e);
		s[0][i] = a;
		s[1][i] = b;
		s[2][i] = c;
		s[3][i] = d;
		s[4][i] = e;
	}
}

/*
 * Adjacent elements share the sorted columns.  Sorting the rows of those, too,
 * leaves 13 of 25 elements that can be the median: the greatest 2 of row 0 (a),
 * 3 of row 1 (b), the middle 3 of row 2 (c), the least 3 of row 3 (d) and 2 of
 * row 4 (e).  The least and the greatest of 8 of these cannot be the median of
 * 13; each element that is added then excludes two others.
 */
static inline void
tvl1_median_span(float *restrict to, float s[5][SPAN + 4], int n)
{
	const float *restrict r0 = s[0], *restrict r1 = s[1];
	const float *restrict r2 = s[2], *restrict r3 = s[3];
	const float *restrict r4 = s[4];

	for (int i = 0; i < n; i++) {
		float p = r0[i], q = r0[i + 1], r = r0[i + 2];
		float a0 = r0[i + 3], a1 = r0[i + 4];
		float t = r1[i], v = r1[i + 1];
		float b0 = r1[i + 2], b1 = r1[i + 3], b2 = r1[i + 4];
		float w = r2[i], c0 = r2[i + 1], c1 = r2[i + 2];
		float c2 = r2[i + 3], x = r2[i + 4];
		float d0 = r3[i], d1 = r3[i + 1], d2 = r3[i + 2];
		float y = r3[i + 3], z = r3[i + 4];
		float e0 = r4[i], e1 = r4[i + 1];
		float f = r4[i + 2], g = r4[i + 3], h = r4[i + 4];

		ORDER(p, q); ORDER(q, r); ORDER(r, a0); ORDER(a0, a1);
		ORDER(p, q); ORDER(q, r); ORDER(r, a0);
		SORT5(t, v, b0, b1, b2);
		SORT5(w, c0, c1, c2, x);
		SORT5(d0, d1, d2, y, z);
		ORDER(g, h); ORDER(f, g); ORDER(e1, f); ORDER(e0, e1);
		ORDER(g, h); ORDER(f, g); ORDER(e1, f);
		/* b2 is at least a1; drop the least of a0, b0, c0 and the
		 * greatest of b2, c2. */
		ORDER(a0, b0); ORDER(a0, c0); ORDER(b2, c2);
		ENDS7(a1, b0, b1, b2, c0, c1, d0);
		ENDS6(b0, b1, b2, c0, c1, d1);
		ENDS5(b1, b2, c0, c1, d2);
		ENDS4(b2, c0, c1, e0);
		ORDER(c0, c1); ORDER(c1, e1); ORDER(c0, c1);
		to[i] = c1;
	}
}

void
ISA(tvl1_median)(float *to, const float *const from[5], int n)
{
	float s[5][SPAN + 4];

	for (int x = 0; x < n; x += SPAN) {
		int part = n - x < SPAN ? n - x : SPAN;

		tvl1_sort_columns(s, from, x - 2, part + 4);
		tvl1_median_span(to + x, s, part);
	}
}

/*
 * Set the weights of cubic convolution (R. Keys, 1981) with a = -0.75 for the
 * elements -1, 0, 1 and 2 at position ${t}, 0 to 1.
 */
static inline void
tvl1_cubic(float w[4], float t)
{
	const float a = -0.75f;
	float s = 1 - t;

	w[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a;
	w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
	w[2] = ((a + 2) * s - (a + 3)) * s * s + 1;
	w[3] = 1 - w[0] - w[1] - w[2];
}

void
ISA(tvl1_warp)(tvl1_pixel *to, const tvl1_pixel *image, int stride,
    const float *x, const float *y, int w, int h, int j)
{
	for (int i = 0; i < w; i++) {
		float at_x = (float)i + x[i], at_y = (float)j + y[i];
		const tvl1_pixel *p;
		tvl1_pixel sum = { 0 };
		float wx[4], wy[4];

		if (!(at_x >= 0 && at_x <= (float)(w - 1) && at_y >= 0 &&
		    at_y <= (float)(h - 1))) {
			to[i] = sum;
			continue;
		}
		p = image + ((ptrdiff_t)(int)at_y - 1) * stride + (int)at_x - 1;
		tvl1_cubic(wx, at_x - (float)(int)at_x);
		tvl1_cubic(wy, at_y - (float)(int)at_y);
		for (int k = 0; k < 4; k++, p += stride)
			sum += wy[k] * (wx[0] * p[0] + wx[1] * p[1] +
			    wx[2] * p[2] + wx[3] * p[3]);
		to[i] = sum;
	}
}
