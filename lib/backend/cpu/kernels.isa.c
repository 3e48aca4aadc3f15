/*
 * Loops over blocked activations.  Written so that the compiler turns the
 * innermost loops, over lanes, into vector instructions; compiled once for
 * each instruction set.
 */
#include <string.h>

#include "backend/cpu/kernels.h"
#include "backend/cpu/vec.h"

/*
 * Four running sums side by side hide the latency of an addition and keep
 * each sum short, which is also what makes float good enough here.
 */
static void
sum_plane(const float *x, size_t hw, float *sum)
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

static void
plane_fill(float *dx, size_t hw, const float *v, int more)
{
	for (size_t i = 0; i < hw; i++)
		LANES(c) dx[i * L + c] = more ? dx[i * L + c] + v[c] : v[c];
}

/*
 * The window of output (h, w) cut to the input: taps a0 to a1 - 1 down and b0
 * to b1 - 1 across.
 */
struct taps { int h0, w0, a0, a1, b0, b1; };

static struct taps
cut(const struct window *v, int h, int w)
{
	struct taps t = { h * v->s[0] - v->p[0], w * v->s[1] - v->p[1], 0,
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

static void
maxpool(float *restrict y, uint8_t *restrict tap, const float *restrict x,
    const struct window *v, int tap0, int more)
{
	for (int h = 0; h < v->out_h; h++)
		for (int w = 0; w < v->out_w; w++, y += L, tap += L) {
			struct taps t = cut(v, h, w);
			float best[L];
			int32_t which[L];

			LANES(c) which[c] = more ? tap[c] : -1;
			LANES(c) best[c] = more ? y[c] : 0;
			for (int a = t.a0; a < t.a1; a++)
				for (int b = t.b0; b < t.b1; b++) {
					const float *from = x + ((size_t)
					    (t.h0 + a) * v->in_w + t.w0 + b) * L;
					int32_t n = tap0 + a * v->k[1] + b;

					LANES(c) {
						int better = which[c] < 0 ||
						    from[c] > best[c];

						best[c] = better ? from[c] :
						    best[c];
						which[c] = better ? n : which[c];
					}
				}
			LANES(c) y[c] = best[c];
			LANES(c) tap[c] = (uint8_t)which[c];
		}
}

/*
 * The windows ${first} to ${end} - 1 of ${n} that cover place ${at}, counted
 * with the padding; it only grows.
 */
INLINE void
cover(int at, int k, int s, int n, int *first, int *end)
{
	while (*end < n && *end * s <= at)
		++*end;
	while (*first < *end && *first * s + k <= at)
		++*first;
}

/*
 * Gathered: each input takes from the few windows that cover it, in their
 * order, and is written once; scattering a window's gradient to its taps reads
 * and writes each input twice over.  On vectors, as gcc 12 makes code of AVX-512
 * from a loop over lanes that takes the wrong taps.
 */
static void
maxpool_back(float *restrict dx, const float *restrict dy,
    const uint8_t *restrict tap, const struct window *v, int tap0, int more)
{
	const int *k = v->k, *s = v->s;

	for (int h = v->p[0], h0 = 0, h1 = 0; h < v->in_h + v->p[0]; h++) {
		cover(h, k[0], s[0], v->out_h, &h0, &h1);
		for (int w = v->p[1], w0 = 0, w1 = 0; w < v->in_w + v->p[1];
		    w++, dx += L) {
			vec sum = { 0 };

			cover(w, k[1], s[1], v->out_w, &w0, &w1);
			if (more)
				sum = AT(dx, 0);
			for (int a = h0; a < h1; a++)
				for (int b = w0; b < w1; b++) {
					size_t at = ((size_t)a * v->out_w + b) *
					    L;
					int32_t n = tap0 + (h - a * s[0]) *
					    k[1] + w - b * s[1];
					ivec t = __builtin_convertvector(
					    *(const bytes *)(tap + at), ivec);

					sum += (vec)((ivec)AT(dy + at, 0) &
					    (t == n));
				}
			*(vec *)dx = sum;
		}
	}
}

/* What a window's sum is multiplied by. */
static float
weight(const struct taps *t, float a, int cut_off)
{
	return cut_off ? a / (float)((t->a1 - t->a0) * (t->b1 - t->b0)) : a;
}

static void
avgpool(float *restrict y, const float *restrict x, const struct window *v,
    float a, int cut_off, int more)
{
	for (int h = 0; h < v->out_h; h++)
		for (int w = 0; w < v->out_w; w++, y += L) {
			struct taps t = cut(v, h, w);
			float sum[L] = { 0 }, by = weight(&t, a, cut_off);

			for (int i = t.a0; i < t.a1; i++)
				for (int j = t.b0; j < t.b1; j++) {
					const float *from = x + ((size_t)
					    (t.h0 + i) * v->in_w + t.w0 + j) * L;

					LANES(c) sum[c] += from[c];
				}
			LANES(c) y[c] = more ? y[c] + by * sum[c] : by * sum[c];
		}
}

static void
avgpool_back(float *restrict dx, const float *restrict dy,
    const struct window *v, float a, int cut_off, int more)
{
	if (!more)
		memset(dx, 0, (size_t)v->in_h * v->in_w * L * sizeof(*dx));
	for (int h = 0; h < v->out_h; h++)
		for (int w = 0; w < v->out_w; w++, dy += L) {
			struct taps t = cut(v, h, w);
			float by = weight(&t, a, cut_off);

			for (int i = t.a0; i < t.a1; i++)
				for (int j = t.b0; j < t.b1; j++) {
					float *to = dx + ((size_t)(t.h0 + i) *
					    v->in_w + t.w0 + j) * L;

					LANES(c) to[c] += by * dy[c];
				}
		}
}

static void
relu(float *restrict y, const float *restrict x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] = x[i] > 0 ? x[i] : 0;
}

static void
relu_back(float *restrict dx, const float *restrict dy,
    const float *restrict y, size_t n, int more)
{
	if (more)
		for (size_t i = 0; i < n; i++)
			dx[i] += y[i] > 0 ? dy[i] : 0;
	else
		for (size_t i = 0; i < n; i++)
			dx[i] = y[i] > 0 ? dy[i] : 0;
}

static void
relu6(float *restrict y, const float *restrict x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] = x[i] > 6 ? 6 : x[i] > 0 ? x[i] : 0;
}

static void
relu6_back(float *restrict dx, const float *restrict dy,
    const float *restrict y, size_t n, int more)
{
	for (size_t i = 0; i < n; i++) {
		float d = y[i] > 0 && y[i] < 6 ? dy[i] : 0;

		dx[i] = more ? dx[i] + d : d;
	}
}

static void
mul(float *restrict y, const float *restrict a, const float *restrict b,
    size_t places, size_t step, int more)
{
	float one[L];

	LANES(c) one[c] = b[c];
	if (step == 0 && !more)
		for (size_t i = 0; i < places; i++)
			LANES(c) y[i * L + c] = a[i * L + c] * one[c];
	else if (step == 0)
		for (size_t i = 0; i < places; i++)
			LANES(c) y[i * L + c] += a[i * L + c] * one[c];
	else if (!more)
		for (size_t i = 0; i < places * L; i++)
			y[i] = a[i] * b[i];
	else
		for (size_t i = 0; i < places * L; i++)
			y[i] += a[i] * b[i];
}

static void
mul_sum(double *restrict sum, const float *restrict a,
    const float *restrict b, size_t places, size_t step)
{
	for (size_t i = 0; i < places; i++)
		LANES(c) sum[i * step + c] += (double)a[i * L + c] *
		    (double)b[i * L + c];
}

/* y may be a. */
static void
add(float *y, const float *a, const float *restrict b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] = a[i] + b[i];
}

static void
scale(float *restrict y, float a, const float *restrict x, size_t n, int more)
{
	if (more)
		for (size_t i = 0; i < n; i++)
			y[i] += a * x[i];
	else
		for (size_t i = 0; i < n; i++)
			y[i] = a * x[i];
}

/* Sixteen partial sums whatever the lanes, so every machine adds alike. */
static double
dot(const float *a, const float *b, size_t n)
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

static void
sgd(float *restrict w, float *restrict m, const float *restrict g, size_t n,
    float lr, float momentum, float decay, float scale_by, int nesterov)
{
	for (size_t i = 0; i < n; i++) {
		float d = g[i] * scale_by + decay * w[i];
		float v = momentum * m[i] + d;

		m[i] = v;
		w[i] -= lr * (nesterov ? d + momentum * v : v);
	}
}

const struct kernels ISA_PASTE(kernels, VT_ISA) = {
	.lanes = L,
	.plane_sum = sum_plane, .plane_fill = plane_fill, .maxpool = maxpool,
	.maxpool_back = maxpool_back, .relu = relu, .relu_back = relu_back,
	.avgpool = avgpool, .avgpool_back = avgpool_back, .relu6 = relu6,
	.relu6_back = relu6_back, .mul = mul, .mul_sum = mul_sum,
	.add = add, .scale = scale, .dot = dot, .sgd = sgd,
};
