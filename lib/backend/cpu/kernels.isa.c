/*
 * Kernels over blocked activations; kernels.h has their formulas.  The
 * innermost loops run over lanes, so that the compiler vectorizes them.
 * Compiled once per instruction set.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/kernels.h"
#include "backend/cpu/vec.h"

/*
 * sum[c] = sum over i of x[i][c]
 *
 * Four running sums hide the latency of an addition.  They also keep each sum
 * short, which makes float precise enough.
 */
static void
kernel_sum_plane(const float *x, size_t hw, float *sum)
{
	float s[4][L] = { { 0 } };
	size_t i = 0;

	for (; i + 4 <= hw; i += 4)
		for (int k = 0; k < 4; k++)
			LANES(c) s[k][c] += x[(i + k) * L + c];
	for (; i < hw; i++)
		LANES(c) s[0][c] += x[i * L + c];
	LANES(c) sum[c] = (s[0][c] + s[1][c]) + (s[2][c] + s[3][c]);
}

/* dx[i][c] (+)= v[c] */
static void
kernel_plane_fill(float *dx, size_t hw, const float *v, int more)
{
	for (size_t i = 0; i < hw; i++)
		LANES(c) dx[i * L + c] = more ? dx[i * L + c] + v[c] : v[c];
}

/*
 * The window of output (h, w), clipped to the input.  Its first tap lies at row
 * ${h0}, column ${w0}.  Rows a0 to a1 - 1 and columns b0 to b1 - 1 are inside.
 */
struct kernel_taps { int h0, w0, a0, a1, b0, b1; };

/*
 * Return the taps of the window of output (h, w) that are inside of the input.
 */
static struct kernel_taps
kernel_cut(const struct plane_window *v, int h, int w)
{
	struct kernel_taps t = { h * v->s[0] - v->p[0], w * v->s[1] - v->p[1],
	    0,
		v->k[0], 0, v->k[1] };

	if (t.h0 < 0)
		t.a0 = -t.h0;
	if (t.w0 < 0)
		t.b0 = -t.w0;
	if (t.h0 + t.a1 > v->in_h)
		t.a1 = v->in_h - t.h0;
	if (t.w0 + t.b1 > v->in_w)
		t.b1 = v->in_w - t.w0;
	return t;
}

/*
 * For one row of windows and one row of their taps, numbered from ${n}: dx[w s
 * - p + b] += dy[w] where tap[w] == n + b.
 */
static void
kernel_row_back(float *restrict dx, const float *restrict dy,
    const uint8_t *restrict tap, const struct plane_window *v, int n)
{
	for (int w = 0; w < v->out_w; w++) {
		struct kernel_taps t = kernel_cut(v, 0, w);
		ivec which = __builtin_convertvector(*(const bytes *)(tap +
		    w * L), ivec);

		for (int b = t.b0; b < t.b1; b++)
			*(vec *)(dx + (t.w0 + b) * L) += (vec)((ivec)AT(dy, w) &
			    (which == n + b));
	}
}

/*
 * y = max over taps of x, and the number of that tap (kernels.h).
 *
 * Written on vectors: for a loop over lanes, gcc 12 with AVX-512 generates code
 * that selects wrong taps, or that needs 30 cycles per tap.
 */
static void
kernel_maxpool(float *restrict y, uint8_t *restrict tap,
    const float *restrict x, const struct plane_window *v, int tap0, int more)
{
	for (int h = 0; h < v->out_h; h++)
		for (int w = 0; w < v->out_w; w++, y += L, tap += L) {
			struct kernel_taps t = kernel_cut(v, h, w);
			vec best = { 0 };
			ivec which = { 0 };
			int any = more;

			if (more) {
				best = AT(y, 0);
				which = __builtin_convertvector(
				    *(const bytes *)tap, ivec);
			}
			for (int a = t.a0; a < t.a1; a++)
				for (int b = t.b0; b < t.b1; b++) {
					vec from = AT(x, (t.h0 + a) * v->in_w +
					    t.w0 + b);
					ivec better = any ? (from > best) |
					    (from != from) :	/* from is
								 * NaN */
					    (ivec){ 0 } == 0;
					int32_t n = tap0 + a * v->k[1] + b;

					best = (vec)(((ivec)from & better) |
					    ((ivec)best & ~better));
					which =
					    (n & better) | (which & ~better);
					any = 1;
				}
			*(vec *)y = best;
			*(bytes *)tap = __builtin_convertvector(which, bytes);
		}
}

/*
 * dx[i] (+)= sum of dy[o] where tap[o] is i.
 *
 * Go row by row of the input, so that the row stays in the cache.  Each output
 * row that covers it adds one row of its taps.
 */
static void
kernel_maxpool_back(float *restrict dx, const float *restrict dy,
    const uint8_t *restrict tap, const struct plane_window *v, int tap0,
    int more)
{
	size_t row = (size_t)v->in_w * L, out = (size_t)v->out_w * L;

	for (int h = 0; h < v->in_h; h++, dx += row) {
		if (!more)
			memset(dx, 0, row * sizeof(*dx));
		for (int a = v->k[0] - 1; a >= 0; a--) {
			int from = h + v->p[0] - a, n = tap0 + a * v->k[1];
			size_t at = (size_t)(from / v->s[0]) * out;

			if (from >= 0 && from % v->s[0] == 0 &&
			    from / v->s[0] < v->out_h)
				kernel_row_back(dx, dy + at, tap + at, v, n);
		}
	}
}

/*
 * The factor of a sum over a window: ${a}, or ${a} divided by the taps inside.
 */
static float
kernel_weight(const struct kernel_taps *t, float a, int cut_off)
{
	return cut_off ? a / (float)((t->a1 - t->a0) * (t->b1 - t->b0)) : a;
}

/* y[o] (+)= weight * sum of x over the window of o */
static void
kernel_avgpool(float *restrict y, const float *restrict x,
    const struct plane_window *v, float a, int cut_off, int more)
{
	for (int h = 0; h < v->out_h; h++)
		for (int w = 0; w < v->out_w; w++, y += L) {
			struct kernel_taps t = kernel_cut(v, h, w);
			float sum[L] = { 0 },
			    by = kernel_weight(&t, a, cut_off);

			for (int i = t.a0; i < t.a1; i++)
				for (int j = t.b0; j < t.b1; j++) {
					const float *from = x + ((size_t)
					    (t.h0 + i) * v->in_w + t.w0 + j) *
					    L;

					LANES(c) sum[c] += from[c];
				}
			LANES(c) y[c] = more ? y[c] + by * sum[c] : by * sum[c];
		}
}

/* dx[i] (+)= sum of weight * dy[o] over the windows o that cover i */
static void
kernel_avgpool_back(float *restrict dx, const float *restrict dy,
    const struct plane_window *v, float a, int cut_off, int more)
{
	if (!more)
		memset(dx, 0, (size_t)v->in_h * v->in_w * L * sizeof(*dx));
	for (int h = 0; h < v->out_h; h++)
		for (int w = 0; w < v->out_w; w++, dy += L) {
			struct kernel_taps t = kernel_cut(v, h, w);
			float by = kernel_weight(&t, a, cut_off);

			for (int i = t.a0; i < t.a1; i++)
				for (int j = t.b0; j < t.b1; j++) {
					float *to = dx + ((size_t)(t.h0 + i) *
					    v->in_w + t.w0 + j) * L;

					LANES(c) to[c] += by * dy[c];
				}
		}
}

/* y = x <= 0 ? 0 : x.  The comparison keeps a NaN, and its gradient passes. */
static void
kernel_relu(float *restrict y, const float *restrict x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] = x[i] <= 0 ? 0 : x[i];
}

/* dx (+)= y <= 0 ? 0 : dy */
static void
kernel_relu_back(float *restrict dx, const float *restrict dy,
    const float *restrict y, size_t n, int more)
{
	if (more)
		for (size_t i = 0; i < n; i++)
			dx[i] += y[i] <= 0 ? 0 : dy[i];
	else
		for (size_t i = 0; i < n; i++)
			dx[i] = y[i] <= 0 ? 0 : dy[i];
}

/* y = min(max(x, 0), 6), NaN kept */
static void
kernel_relu6(float *restrict y, const float *restrict x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] = x[i] > 6 ? 6 : x[i] <= 0 ? 0 : x[i];
}

/* dx (+)= y <= 0 || y >= 6 ? 0 : dy */
static void
kernel_relu6_back(float *restrict dx, const float *restrict dy,
    const float *restrict y, size_t n, int more)
{
	for (size_t i = 0; i < n; i++) {
		float d = y[i] <= 0 || y[i] >= 6 ? 0 : dy[i];

		dx[i] = more ? dx[i] + d : d;
	}
}

/* y[i][c] (+)= a[i][c] b[i][c], or b[c] if step is 0 */
static void
kernel_mul(float *restrict y, const float *restrict a, const float *restrict b,
    size_t positions, size_t step, int more)
{
	float one[L];

	LANES(c) one[c] = b[c];
	if (step == 0 && !more)
		for (size_t i = 0; i < positions; i++)
			LANES(c) y[i * L + c] = a[i * L + c] * one[c];
	else if (step == 0)
		for (size_t i = 0; i < positions; i++)
			LANES(c) y[i * L + c] += a[i * L + c] * one[c];
	else if (!more)
		for (size_t i = 0; i < positions * L; i++)
			y[i] = a[i] * b[i];
	else
		for (size_t i = 0; i < positions * L; i++)
			y[i] += a[i] * b[i];
}

/* sum[i][c] += a[i][c] b[i][c], or sum[c] if step is 0 */
static void
kernel_mul_sum(double *restrict sum, const float *restrict a,
    const float *restrict b, size_t positions, size_t step)
{
	for (size_t i = 0; i < positions; i++)
		LANES(c) sum[i * step + c] += (double)a[i * L + c] *
		    (double)b[i * L + c];
}

/* y = a + b, where y may be a. */
static void
kernel_add(float *y, const float *a, const float *restrict b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] = a[i] + b[i];
}

/* y (+)= a x */
static void
kernel_scale(float *restrict y, float a, const float *restrict x, size_t n,
    int more)
{
	if (more)
		for (size_t i = 0; i < n; i++)
			y[i] += a * x[i];
	else
		for (size_t i = 0; i < n; i++)
			y[i] = a * x[i];
}

/*
 * Return sum of a[i] b[i].  Sixteen partial sums for any number of lanes give
 * the same order of additions, and so the same bits, on every machine.
 */
static double
kernel_dot(const float *a, const float *b, size_t n)
{
	double s[16] = { 0 }, sum = 0;
	size_t i = 0;

	for (; i + 16 <= n; i += 16)
		for (int c = 0; c < 16; c++)
			s[c] += (double)a[i + c] * (double)b[i + c];
	for (int c = 0; i < n; i++, c++)
		s[c] += (double)a[i] * (double)b[i];
	for (int c = 0; c < 16; c++)
		sum += s[c];
	return sum;
}

/*
 * SGD, with d = scale g + decay w:
 *
 *	m = momentum m + d;  w -= lr (nesterov ? d + momentum m : m)
 *	w -= lr d, if m is NULL
 */
static void
kernel_update(const struct update *u)
{
	float *restrict w = u->w, *restrict m = u->m;
	const float *restrict g = u->g;
	float lr = (float)u->lr, momentum = (float)u->momentum;
	float decay = (float)u->decay, by = (float)u->scale;
	int nesterov = u->nesterov;

	for (size_t i = 0; i < u->n && m == NULL; i++)
		w[i] -= lr * (g[i] * by + decay * w[i]);
	for (size_t i = 0; i < u->n && m != NULL; i++) {
		float d = g[i] * by + decay * w[i];
		float v = momentum * m[i] + d;

		m[i] = v;
		w[i] -= lr * (nesterov ? d + momentum * v : v);
	}
}

/*
 * Adam's moments and direction, with new_k = 1 - beta_k:
 *
 *	m += new1 (d - m);  v += new2 (d^2 - v), where d = scale g
 *	g = (m / c1) / (sqrt(v / c2) + eps) + decay w
 *
 * where c1 is bias_correction1 and c2 is bias_correction2.
 */
static void
kernel_moments(const struct moments *k)
{
	const float *restrict w = k->w;
	float *restrict m = k->m, *restrict v = k->v, *restrict g = k->g;
	float by = (float)k->scale, decay = (float)k->decay;
	float new1 = (float)(1 - k->beta1), new2 = (float)(1 - k->beta2);
	/*
	 * Multiply numerator and denominator by sqrt(c2): one division per
	 * element.
	 */
	float up = (float)(sqrt(k->bias_correction2) / k->bias_correction1);
	float eps = (float)(k->eps * sqrt(k->bias_correction2));

	for (size_t i = 0; i < k->n; i++) {
		float d = g[i] * by;

		m[i] += new1 * (d - m[i]);
		v[i] += new2 * (d * d - v[i]);
		g[i] = up * m[i] / (__builtin_sqrtf(v[i]) + eps) +
		    decay * w[i];
	}
}

const struct kernels ISA_PASTE(kernels, VT_ISA) = {
	.lanes = L,
	.plane_sum = kernel_sum_plane, .plane_fill = kernel_plane_fill,
	.maxpool = kernel_maxpool, .maxpool_back = kernel_maxpool_back,
	.relu = kernel_relu, .relu_back = kernel_relu_back,
	.avgpool = kernel_avgpool, .avgpool_back = kernel_avgpool_back,
	.relu6 = kernel_relu6, .relu6_back = kernel_relu6_back,
	.mul = kernel_mul, .mul_sum = kernel_mul_sum, .add = kernel_add,
	.scale = kernel_scale, .dot = kernel_dot, .update = kernel_update,
	.moments = kernel_moments,
};
