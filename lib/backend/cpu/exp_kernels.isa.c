/*
 * Sigmoid, swish and softmax over blocked activations; curves.h has the
 * formulas.  Compiled once per instruction set, like kernels.isa.c.
 */
#include <stdint.h>
#include <string.h>

#include "backend/cpu/exp_kernels.h"
#include "backend/cpu/vec.h"

/*
 * exp(x) = 2^n exp(r), |r| <= ln 2 / 2, with the polynomial of expf in Cephes.
 *
 * Adding and subtracting 1.5 * 2^23 rounds to an integer on every instruction
 * set.  x is clamped to [-87, 88], so that the result is a normal float.
 */
static inline float
exp_kernels_kernel_exp_of(float x)
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

/* y = 1 / (1 + exp(-x)) in real channels, 0 in padding */
static void
exp_kernels_kernel_sigmoid(float *restrict y, const float *restrict x,
    size_t positions, int channels)
{
	float real[L];

	LANES(c) real[c] = c < channels;
	for (size_t i = 0; i < positions; i++)
		LANES(c) y[i * L + c] = real[c] /
		    (1 + exp_kernels_kernel_exp_of(-x[i * L + c]));
}

/* dx (+)= dy y (1 - y) */
static void
exp_kernels_kernel_sigmoid_back(float *restrict dx, const float *restrict dy,
    const float *restrict y, size_t n, int more)
{
	for (size_t i = 0; i < n; i++) {
		float d = dy[i] * y[i] * (1 - y[i]);

		dx[i] = more ? dx[i] + d : d;
	}
}

/* y = x / (1 + exp(-x)) */
static void
exp_kernels_kernel_swish(float *restrict y, const float *restrict x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] = x[i] / (1 + exp_kernels_kernel_exp_of(-x[i]));
}

/* dx (+)= dy s (1 + x (1 - s)), s = 1 / (1 + exp(-x)) */
static void
exp_kernels_kernel_swish_back(float *restrict dx, const float *restrict dy,
    const float *restrict x, size_t n, int more)
{
	for (size_t i = 0; i < n; i++) {
		float s = 1 / (1 + exp_kernels_kernel_exp_of(-x[i]));
		float d = dy[i] * s * (1 + x[i] * (1 - s));

		dx[i] = more ? dx[i] + d : d;
	}
}

/* The number of lanes of block ${b} that are channels. */
static inline int
exp_kernels_kernel_real_lanes(const struct softmax_span *s, int b)
{
	return s->channels - b * L < L ? s->channels - b * L : L;
}

/*
 * Add up sixteen partial sums.  They are sixteen for any number of lanes, so
 * that every machine adds in the same order.
 */
static float
exp_kernels_kernel_join(const float part[16])
{
	double sum = 0;

	for (int c = 0; c < 16; c++)
		sum += (double)part[c];
	return (float)sum;
}

/*
 * y[c] = exp(x[c] - top) / sum over c of exp(x[c] - top), top = max over c of
 * x[c]
 */
static void
exp_kernels_kernel_softmax(float *restrict y, const float *restrict x,
    const struct softmax_span *s)
{
	float largest[SOFTMAX_POSITIONS][L], top[SOFTMAX_POSITIONS];
	float sum[SOFTMAX_POSITIONS][16] = { { 0 } };

	/*
	 * Lanes beyond the last channel hold 0 and must not take part in the
	 * maximum.
	 */
	for (size_t i = 0; i < s->n; i++)
		LANES(c) largest[i][c] = x[i * L];
	for (int b = 0; b < s->channels / L; b++)
		for (size_t i = 0; i < s->n; i++) {
			const float *from = x + (size_t)b * s->step + i * L;

			LANES(c) largest[i][c] = from[c] > largest[i][c] ?
			    from[c] : largest[i][c];
		}
	for (size_t i = 0; i < s->n; i++) {
		const float *from = x + (size_t)(s->blocks - 1) * s->step +
		    i * L;

		top[i] = largest[i][0];
		LANES(c) top[i] = largest[i][c] > top[i] ? largest[i][c] :
		    top[i];
		for (int c = 0; c < s->channels % L; c++)
			top[i] = from[c] > top[i] ? from[c] : top[i];
	}
	for (int b = 0; b < s->blocks; b++)
		for (size_t i = 0; i < s->n; i++) {
			size_t at = (size_t)b * s->step + i * L;
			float *to = sum[i] + b * L % 16;
			int real = exp_kernels_kernel_real_lanes(s, b);

			LANES(c) y[at + c] =
			    exp_kernels_kernel_exp_of(x[at + c] - top[i]);
			for (int c = real; c < L; c++)
				y[at + c] = 0;
			LANES(c) to[c] += y[at + c];
		}
	for (size_t i = 0; i < s->n; i++)
		top[i] = 1 / exp_kernels_kernel_join(sum[i]);
	for (int b = 0; b < s->blocks; b++)
		for (size_t i = 0; i < s->n; i++) {
			float *to = y + (size_t)b * s->step + i * L;

			LANES(c) to[c] *= top[i];
		}
}

/* dx[c] (+)= y[c] (dy[c] - sum over c of y[c] dy[c]) */
static void
exp_kernels_kernel_softmax_back(float *restrict dx, const float *restrict dy,
    const float *restrict y, const struct softmax_span *s, int more)
{
	float dot[SOFTMAX_POSITIONS], sum[SOFTMAX_POSITIONS][16] = { { 0 } };

	for (int b = 0; b < s->blocks; b++)
		for (size_t i = 0; i < s->n; i++) {
			size_t at = (size_t)b * s->step + i * L;
			float *to = sum[i] + b * L % 16;

			LANES(c) to[c] += y[at + c] * dy[at + c];
		}
	for (size_t i = 0; i < s->n; i++)
		dot[i] = exp_kernels_kernel_join(sum[i]);
	for (int b = 0; b < s->blocks; b++)
		for (size_t i = 0; i < s->n; i++) {
			size_t at = (size_t)b * s->step + i * L;

			LANES(c) {
				float d = y[at + c] * (dy[at + c] - dot[i]);

				dx[at + c] = more ? dx[at + c] + d : d;
			}
		}
}

const struct exp_kernels ISA_PASTE(exp_kernels, VT_ISA) = {
	.sigmoid = exp_kernels_kernel_sigmoid,
	.sigmoid_back = exp_kernels_kernel_sigmoid_back,
	.swish = exp_kernels_kernel_swish,
	.swish_back = exp_kernels_kernel_swish_back,
	.softmax = exp_kernels_kernel_softmax,
	.softmax_back = exp_kernels_kernel_softmax_back,
};
