/*
 * Sigmoid, swish and softmax over blocked activations; compiled once for each
 * instruction set, as kernels.isa.c.
 */
#include <stdint.h>
#include <string.h>

#include "backend/cpu/curves.h"

#ifdef __AVX512F__
#define L 16
#else
#define L 8
#endif

#define LANES(c) for (int c = 0; c < L; c++)

/*
 * exp(x) = 2^n exp(r), |r| <= ln 2 / 2, with the polynomial of Cephes' expf.
 * Adding and taking away 1.5 * 2^23 rounds to a whole number on every
 * instruction set.  Below -87 it stays at the smallest normal number.
 */
static inline float
curves_kernel_exp_of(float x)
{
	const float whole = 12582912.0f;
	float n, r, p;
	uint32_t bits;

	x = x < -87 ? -87 : x > 88 ? 88 : x;
	n = x * 1.44269504f + whole - whole;
	r = x - n * 0.693359375f + n * 2.12194440e-4f;
	p = 1.9875691500e-4f;
	p = p * r + 1.3981999507e-3f;
	p = p * r + 8.3334519073e-3f;
	p = p * r + 4.1665795894e-2f;
	p = p * r + 1.6666665459e-1f;
	p = p * r + 5.0000001201e-1f;
	p = p * r * r + r + 1;
	bits = (uint32_t)((int32_t)n + 127) << 23;
	memcpy(&n, &bits, sizeof(n));
	return p * n;
}

static void
curves_kernel_sigmoid(float *restrict y, const float *restrict x, size_t places,
    int channels)
{
	float real[L];

	LANES(c) real[c] = c < channels;
	for (size_t i = 0; i < places; i++)
		LANES(c) y[i * L + c] = real[c] /
		    (1 + curves_kernel_exp_of(-x[i * L + c]));
}

static void
curves_kernel_sigmoid_back(float *restrict dx, const float *restrict dy,
    const float *restrict y, size_t n, int more)
{
	for (size_t i = 0; i < n; i++) {
		float d = dy[i] * y[i] * (1 - y[i]);

		dx[i] = more ? dx[i] + d : d;
	}
}

static void
curves_kernel_swish(float *restrict y, const float *restrict x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] = x[i] / (1 + curves_kernel_exp_of(-x[i]));
}

static void
curves_kernel_swish_back(float *restrict dx, const float *restrict dy,
    const float *restrict x, size_t n, int more)
{
	for (size_t i = 0; i < n; i++) {
		float s = 1 / (1 + curves_kernel_exp_of(-x[i]));
		float d = dy[i] * s * (1 + x[i] * (1 - s));

		dx[i] = more ? dx[i] + d : d;
	}
}

/* The lanes of block ${b} that are channels. */
static inline int
curves_kernel_real_lanes(const struct shares *s, int b)
{
	return s->channels - b * L < L ? s->channels - b * L : L;
}

/* Sixteen partial sums, whatever the lanes, so every machine adds alike. */
static float
curves_kernel_join(const float part[16])
{
	double sum = 0;

	for (int c = 0; c < 16; c++)
		sum += (double)part[c];
	return (float)sum;
}

static void
curves_kernel_softmax(float *restrict y, const float *restrict x,
    const struct shares *s)
{
	float most[SHARES][L], top[SHARES], sum[SHARES][16] = { { 0 } };

	/* Lanes beyond the last channel hold 0, and are not asked. */
	for (size_t i = 0; i < s->n; i++)
		LANES(c) most[i][c] = x[i * L];
	for (int b = 0; b < s->channels / L; b++)
		for (size_t i = 0; i < s->n; i++) {
			const float *from = x + (size_t)b * s->step + i * L;

			LANES(c) most[i][c] = from[c] > most[i][c] ? from[c] :
			    most[i][c];
		}
	for (size_t i = 0; i < s->n; i++) {
		const float *from = x + (size_t)(s->blocks - 1) * s->step +
		    i * L;

		top[i] = most[i][0];
		LANES(c) top[i] = most[i][c] > top[i] ? most[i][c] : top[i];
		for (int c = 0; c < s->channels % L; c++)
			top[i] = from[c] > top[i] ? from[c] : top[i];
	}
	for (int b = 0; b < s->blocks; b++)
		for (size_t i = 0; i < s->n; i++) {
			size_t at = (size_t)b * s->step + i * L;
			float *to = sum[i] + b * L % 16;
			int real = curves_kernel_real_lanes(s, b);

			LANES(c) y[at + c] = curves_kernel_exp_of(x[at + c] -
			    top[i]);
			for (int c = real; c < L; c++)
				y[at + c] = 0;
			LANES(c) to[c] += y[at + c];
		}
	for (size_t i = 0; i < s->n; i++)
		top[i] = 1 / curves_kernel_join(sum[i]);
	for (int b = 0; b < s->blocks; b++)
		for (size_t i = 0; i < s->n; i++) {
			float *to = y + (size_t)b * s->step + i * L;

			LANES(c) to[c] *= top[i];
		}
}

static void
curves_kernel_softmax_back(float *restrict dx, const float *restrict dy,
    const float *restrict y, const struct shares *s, int more)
{
	float dot[SHARES], sum[SHARES][16] = { { 0 } };

	for (int b = 0; b < s->blocks; b++)
		for (size_t i = 0; i < s->n; i++) {
			size_t at = (size_t)b * s->step + i * L;
			float *to = sum[i] + b * L % 16;

			LANES(c) to[c] += y[at + c] * dy[at + c];
		}
	for (size_t i = 0; i < s->n; i++)
		dot[i] = curves_kernel_join(sum[i]);
	for (int b = 0; b < s->blocks; b++)
		for (size_t i = 0; i < s->n; i++) {
			size_t at = (size_t)b * s->step + i * L;

			LANES(c) {
				float d = y[at + c] * (dy[at + c] - dot[i]);

				dx[at + c] = more ? dx[at + c] + d : d;
			}
		}
}

const struct curves_kernels ISA_PASTE(curves, VT_ISA) = {
	.sigmoid = curves_kernel_sigmoid,
	.sigmoid_back = curves_kernel_sigmoid_back,
	.swish = curves_kernel_swish, .swish_back = curves_kernel_swish_back,
	.softmax = curves_kernel_softmax,
	.softmax_back = curves_kernel_softmax_back,
};
