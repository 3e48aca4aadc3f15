/*
 * Kernels over rows of bf16 (kernels.h).  They use vectors of 16 channels,
 * which the compiler splits according to the instruction set.
 */
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "backend/cpu/bf16/kernels.h"
#include "base/isa.h"

#define L 16
#define INLINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(4 * L), aligned(4)));
typedef uint32_t uvec __attribute__((vector_size(4 * L), aligned(4)));
typedef int32_t ivec __attribute__((vector_size(4 * L), aligned(4)));
typedef uint16_t hvec __attribute__((vector_size(2 * L), aligned(2)));

#define AT(p, i) (*(vec *)((p) + (i)))
#define CAT(p, i) (*(const vec *)((p) + (i)))

/*
 * Load 16 numbers as floats.  Vectors are passed by address, because an ABI
 * passes them by value only with the instruction set.  With AVX-512, gcc would
 * split the conversion in two without the intrinsic.
 */
INLINE void
bf16_kernel_load(vec *v, const bf16 *p)
{
#if defined(__AVX512F__)
	*v = (vec)_mm512_slli_epi32(_mm512_cvtepu16_epi32(
	    _mm256_loadu_si256((const __m256i *)p)), 16);
#else
	*v = (vec)(__builtin_convertvector(*(const hvec *)p, uvec) << 16);
#endif
}

/* Round 16 floats to bf16: to nearest, ties to even, NaN stays NaN. */
INLINE void
bf16_kernel_round16(hvec *h, const vec *v)
{
	const uvec u = (uvec)*v;
	const uvec near = (u + 0x7fff + (u >> 16 & 1)) >> 16;
	const uvec nan = u >> 16 | 0x40;
	const uvec is = (uvec)((u & 0x7fffffff) > 0x7f800000);
	const uvec bits = (nan & is) | (near & ~is);

#if defined(__AVX512F__)
	_mm256_storeu_si256((__m256i *)h,
	    _mm512_cvtepi32_epi16((__m512i)bits));
#else
	*h = __builtin_convertvector(bits, hvec);
#endif
}

INLINE void
bf16_kernel_store(bf16 *p, const vec *v)
{
	bf16_kernel_round16((hvec *)p, v);
}

/* to = from */
static void
bf16_kernel_widen(float *to, const bf16 *from, size_t n)
{
	size_t i = 0;

	for (; i + L <= n; i += L)
		bf16_kernel_load(&AT(to, i), from + i);
	for (; i < n; i++)
		to[i] = bf16_wide(from[i]);
}

/* to = from, rounded */
static void
bf16_kernel_narrow(bf16 *to, const float *from, size_t n)
{
	size_t i = 0;

	for (; i + L <= n; i += L)
		bf16_kernel_store(to + i, &CAT(from, i));
	for (; i < n; i++)
		to[i] = bf16_of(from[i]);
}

/* y = a + b */
static void
bf16_kernel_add(bf16 *y, const bf16 *a, const bf16 *b, size_t n)
{
	size_t i = 0;
	vec va, vb;

	for (; i + L <= n; i += L) {
		bf16_kernel_load(&va, a + i);
		bf16_kernel_load(&vb, b + i);
		va += vb;
		bf16_kernel_store(y + i, &va);
	}
	for (; i < n; i++)
		y[i] = bf16_of(bf16_wide(a[i]) + bf16_wide(b[i]));
}

/* planes[k / 16][r][16] = x[r][k] */
static void
bf16_kernel_planes_of(float *planes, const bf16 *x, size_t rows, int c)
{
	for (size_t r = 0; r < rows; r++)
		for (int k = 0; k < c; k += L, x += L)
			bf16_kernel_load(&AT(planes, (size_t)k * rows + r * L),
			    x);
}

/* x[r][k] (+)= planes[k / 16][r][16] */
static void
bf16_kernel_rows_of(bf16 *x, const float *planes, size_t rows, int c, int more)
{
	for (size_t r = 0; r < rows; r++)
		for (int k = 0; k < c; k += L, x += L) {
			vec v = CAT(planes, (size_t)k * rows + r * L), w;

			if (more) {
				bf16_kernel_load(&w, x);
				v += w;
			}
			bf16_kernel_store(x, &v);
		}
}

/*
 * sum[c] += sum over rows of x[r][c].  Four rows at a time, because the sums
 * are in memory between rows.
 */
INLINE void
bf16_kernel_add_rows(const bf16 *x, size_t rows, int c, float *sum)
{
	size_t r = 0, s = (size_t)c;
	vec v[4];

	for (; r + 4 <= rows; r += 4, x += 4 * s)
		for (int k = 0; k < c; k += L) {
			for (size_t i = 0; i < 4; i++)
				bf16_kernel_load(&v[i], x + i * s + k);
			AT(sum, k) += (v[0] + v[1]) + (v[2] + v[3]);
		}
	for (; r < rows; r++, x += s)
		for (int k = 0; k < c; k += L) {
			bf16_kernel_load(&v[0], x + k);
			AT(sum, k) += v[0];
		}
}

/* sum[c] = sum over rows of x[r][c] */
static void
bf16_kernel_sum_rows(const bf16 *x, size_t rows, int c, float *sum)
{
	memset(sum, 0, (size_t)c * sizeof(*sum));
	bf16_kernel_add_rows(x, rows, c, sum);
}

/* x[r][c] (+)= v[c] */
static void
bf16_kernel_fill(bf16 *x, size_t rows, int c, const float *v, int more)
{
	for (size_t r = 0; r < rows; r++)
		for (int k = 0; k < c; k += L, x += L) {
			vec w = CAT(v, k), was;

			if (more) {
				bf16_kernel_load(&was, x);
				w += was;
			}
			bf16_kernel_store(x, &w);
		}
}

/* y = maximum of the window, or its last NaN; tap = its number, a k[1] + b */
static void
bf16_kernel_maxpool(bf16 *y, uint8_t *tap, const bf16 *x, int c,
    const struct plane_window *v, int h)
{
	int h0 = h * v->s[0] - v->p[0];

	for (int w = 0; w < v->out_w; w++)
		for (int k = 0; k < c; k += L, y += L, tap += L) {
			int w0 = w * v->s[1] - v->p[1], first = 1;
			ivec which = { 0 };
			vec best = { 0 };

			for (int a = 0; a < v->k[0]; a++)
				for (int b = 0; b < v->k[1]; b++) {
					vec here;
					ivec better;

					if (h0 + a < 0 || h0 + a >= v->in_h ||
					    w0 + b < 0 || w0 + b >= v->in_w)
						continue;
					bf16_kernel_load(&here,
					    x + ((size_t)(h0 + a) * v->in_w +
					    w0 + b) * c + k);
					better = first ? (ivec){ 0 } - 1 :
					    (here > best) | (here != here);
					best = (vec)(((ivec)here & better) |
					    ((ivec)best & ~better));
					which = ((a * v->k[1] + b) & better) |
					    (which & ~better);
					first = 0;
				}
			bf16_kernel_store(y, &best);
			for (int i = 0; i < L; i++)
				tap[i] = (uint8_t)which[i];
		}
}

/*
 * Find the outputs ${*from} to ${*to} whose windows cover input position ${at},
 * along one axis.
 */
INLINE void
bf16_kernel_windows(int at, int p, int k, int s, int out, int *from, int *to)
{
	*from = at + p < k ? 0 : (at + p - k) / s + 1;
	*to = (at + p) / s;
	*to = *to < out ? *to : out - 1;
}

/* dx[i] (+)= sum of dy[o] over the windows o that cover i where tap[o] is i */
static void
bf16_kernel_maxpool_back(bf16 *dx, const bf16 *dy, const uint8_t *tap, int c,
    const struct plane_window *v, int h, int more)
{
	int from[2], to[2];

	bf16_kernel_windows(h, v->p[0], v->k[0], v->s[0], v->out_h, &from[0],
	    &to[0]);
	for (int w = 0; w < v->in_w; w++) {
		bf16_kernel_windows(w, v->p[1], v->k[1], v->s[1], v->out_w,
		    &from[1], &to[1]);
		for (int k = 0; k < c; k += L, dx += L) {
			vec sum = { 0 }, d;

			if (more)
				bf16_kernel_load(&sum, dx);
			for (int oh = from[0]; oh <= to[0]; oh++)
				for (int ow = from[1]; ow <= to[1]; ow++) {
					size_t i = ((size_t)oh * v->out_w +
					    ow) * c + k;
					int n = (h - oh * v->s[0] + v->p[0]) *
					    v->k[1] + w - ow * v->s[1] +
					    v->p[1];
					ivec here;

					for (int l = 0; l < L; l++)
						here[l] = -(tap[i + l] == n);
					bf16_kernel_load(&d, dy + i);
					sum += (vec)((ivec)d & here);
				}
			bf16_kernel_store(dx, &sum);
		}
	}
}

const struct bf16_kernels ISA_PASTE(bf16_kernels, VT_ISA) = {
	.widen = bf16_kernel_widen, .narrow = bf16_kernel_narrow,
	.add = bf16_kernel_add, .planes = bf16_kernel_planes_of,
	.rows = bf16_kernel_rows_of, .sum = bf16_kernel_sum_rows,
	.fill = bf16_kernel_fill, .maxpool = bf16_kernel_maxpool,
	.maxpool_back = bf16_kernel_maxpool_back,
};
