/*
 * Winograd's F(4x4, 3x3) with the points 0, +-1, +-2 (Lavin and Gray 2016):
 *
 *	y = A' [ (G w G') * (B' x B) ] A
 *
 * Nearly all the time goes into the products over channels: 36 per tile of 16
 * outputs, where the direct sum takes 144.
 */
#include <string.h>

#include "backend/cpu/bf16/kernels.h"
#include "backend/cpu/wide.h"
#include "backend/cpu/winograd_kernels.h"

#ifdef __AVX512F__
#define L 16
#else
#define L 8
#endif

typedef float vec __attribute__((vector_size(4 * L)));

#define AT(p) (*(const vec *)(p))
#define INLINE static inline __attribute__((always_inline))

/*
 * Widen L bf16 numbers, and narrow to bf16: round to nearest, ties to even,
 * NaN stays NaN.  Vectors are passed by address, because an ABI passes them by
 * value only with the instruction set.
 */
INLINE void
winograd_kernel_widen(vec *v, const bf16 *p)
{
#ifdef __AVX512F__
	*v = (vec)_mm512_slli_epi32(_mm512_cvtepu16_epi32(
	    _mm256_loadu_si256((const void *)p)), 16);
#else
	for (int c = 0; c < L; c++)
		(*v)[c] = bf16_wide(p[c]);
#endif
}

INLINE void
winograd_kernel_narrow(bf16 *p, const vec *v)
{
#ifdef __AVX512F__
	const __m512i u = (__m512i)*v, upper = _mm512_srli_epi32(u, 16);
	__m512i near = _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(u,
	    _mm512_set1_epi32(0x7fff)), _mm512_and_si512(upper,
	    _mm512_set1_epi32(1))), 16);

	near = _mm512_mask_or_epi32(near, _mm512_cmp_ps_mask((__m512)*v,
	    (__m512)*v, _CMP_UNORD_Q), upper, _mm512_set1_epi32(0x40));
	_mm256_storeu_si256((void *)p, _mm512_cvtepi32_epi16(near));
#else
	for (int c = 0; c < L; c++)
		p[c] = bf16_of((*v)[c]);
#endif
}

/*
 * o = B' d.  The last tile of a side may have ${n} < 4 outputs.  The points
 * that it does not need give 0.  The factors of the others are adjusted so that
 * the same transformed weights fit.
 */
INLINE void
winograd_kernel_cols_in(vec o[6], const vec d[6], int n)
{
	vec a = d[4] - 4 * d[2], b = d[3] - 4 * d[1];
	vec c = d[4] - d[2], e = 2 * (d[3] - d[1]);

	if (n == 3) {
		o[0] = 4 * (d[0] - d[2]) - 2 * (d[1] - d[3]);
		o[1] = 3 * (d[3] - d[2] - 2 * d[1]);
		o[2] = 2 * d[1] - 3 * d[2] + d[3];
		o[3] = 4 * (d[3] - d[1]);
		o[4] = (vec){ 0 };
		o[5] = 2 * (d[1] - d[3]) - d[2] + d[4];
		return;
	}
	if (n == 2) {
		o[0] = 4 * (d[0] - d[2]);
		o[1] = -3 * (d[1] + d[2]);
		o[2] = 3 * (d[1] - d[2]);
		o[3] = o[4] = (vec){ 0 };
		o[5] = d[3] - d[1];
		return;
	}
	o[0] = 4 * d[0] - 5 * d[2] + d[4];
	o[1] = a + b;
	o[2] = a - b;
	o[3] = c + e;
	o[4] = c - e;
	o[5] = 4 * d[1] - 5 * d[3] + d[5];
}

/* Read the vector ${i} rows and ${j} columns after ${p}. */
INLINE void
winograd_kernel_read_at(vec *v, const struct winograd_plane *x, const char *p,
    int i, int j, int is_bf16)
{
	long at = ((long)i * x->w + j) * (long)x->step;

	if (is_bf16)
		winograd_kernel_widen(v, (const bf16 *)p + at);
	else
		*v = AT((const float *)p + at);
}

/* Return where a tile begins, perhaps outside of the plane. */
INLINE char *
winograd_kernel_tile_at(const struct winograd_plane *x, const int at[2],
    int is_bf16)
{
	return (char *)x->at + ((long)at[0] * x->w + at[1]) * (long)x->step *
	    (is_bf16 ? 2 : 4);
}

/* v = B' x B for one tile */
INLINE void
winograd_kernel_input_of(float *v, size_t step, const struct winograd_plane *x,
    const int at[2], int rows, int columns, int is_bf16)
{
	vec t[6][6], d[6], o[6];
	int inside = at[0] >= 0 && at[1] >= 0 && at[0] + 6 <= x->h &&
	    at[1] + 6 <= x->w;
	const char *from = winograd_kernel_tile_at(x, at, is_bf16);

	for (int j = 0; j < 6; j++) {
		for (int i = 0; i < 6; i++)
			if (inside || ((unsigned)(at[0] + i) < (unsigned)x->h &&
			    (unsigned)(at[1] + j) < (unsigned)x->w))
				winograd_kernel_read_at(&d[i], x, from, i, j,
				    is_bf16);
			else
				d[i] = (vec){ 0 };
		winograd_kernel_cols_in(o, d, rows);
		for (int i = 0; i < 6; i++)
			t[i][j] = o[i];
	}
	for (int i = 0; i < 6; i++) {
		winograd_kernel_cols_in(o, t[i], columns);
		for (int j = 0; j < 6; j++)
			*(vec *)(v + (size_t)(i * 6 + j) * step) = o[j];
	}
}

/* A full tile gets constants, so that its loop has no branches. */
INLINE void
winograd_kernel_input_as(float *v, size_t step, const struct winograd_plane *x,
    const int at[2], const int n[2], int is_bf16)
{
	if (n[0] == 4 && n[1] == 4)
		winograd_kernel_input_of(v, step, x, at, 4, 4, is_bf16);
	else
		winograd_kernel_input_of(v, step, x, at, n[0], n[1], is_bf16);
}

static void
winograd_kernel_input(float *v, size_t step, const struct winograd_plane *x,
    const int at[2], const int n[2])
{
	if (x->is_bf16)
		winograd_kernel_input_as(v, step, x, at, n, 1);
	else
		winograd_kernel_input_as(v, step, x, at, n, 0);
}

/*
 * m[r][o] = sum over c of v[r][c] u[c][o]
 *
 * WINOGRAD_ROWS tiles by two vectors of output channels stay in registers over
 * all channels: 24 of 32 with AVX-512.  Elsewhere the rows are processed in two
 * halves, 12 of 16.
 */
#define PART (L == 16 ? WINOGRAD_ROWS : WINOGRAD_ROWS / 2)

static void
winograd_kernel_product(float *m, const float *v, size_t step, const float *u,
    int blocks)
{
	for (int part = 0; part < WINOGRAD_ROWS; part += PART) {
		vec s[PART][2];
		const float *in = v + (size_t)part * L, *k = u;

		memset(s, 0, sizeof(s));
		for (int b = 0; b < blocks; b++, in += step)
			for (int c = 0; c < L; c++, k += 2 * L) {
				const vec k0 = AT(k), k1 = AT(k + L);

#pragma GCC unroll 12
				for (int r = 0; r < PART; r++) {
					const vec a =
					    in[r * L + c] - (vec){ 0 };

					s[r][0] = FMA(a, k0, s[r][0]);
					s[r][1] = FMA(a, k1, s[r][1]);
				}
			}
		for (int r = 0; r < PART; r++)
			memcpy(m + (size_t)(part + r) * 2 * L, s[r],
			    sizeof(s[r]));
	}
}

/* o = A' m: ${n} outputs from the elements that exist. */
INLINE void
winograd_kernel_cols_out(vec o[4], const vec m[6], int n)
{
	vec a = m[1] + m[2], b = m[1] - m[2];
	vec c = m[3] + m[4], d = m[3] - m[4];

	if (n == 3) {
		o[0] = m[0] + a + m[3];
		o[1] = b + 2 * m[3];
		o[2] = a + 4 * m[3] + m[5];
		o[3] = (vec){ 0 };
		return;
	}
	if (n == 2) {
		o[0] = m[0] + a;
		o[1] = b + m[5];
		o[2] = o[3] = (vec){ 0 };
		return;
	}
	o[0] = m[0] + a + c;
	o[1] = b + 2 * d;
	o[2] = a + 4 * c;
	o[3] = b + 8 * d + m[5];
}

/* y = A' m A + bias, or y += A' m A */
INLINE void
winograd_kernel_output_of(const struct winograd_plane *y, const int at[2],
    int rows, int columns, const float *m, size_t step, const float *bias,
    int how, int is_bf16)
{
	vec t[4][6], in[6], o[4];
	const vec b = bias != NULL ? AT(bias) : (vec){ 0 };
	char *first = winograd_kernel_tile_at(y, at, is_bf16);

	for (int j = 0; j < 6; j++) {
		for (int i = 0; i < 6; i++)
			in[i] = AT(m + (size_t)(i * 6 + j) * step);
		winograd_kernel_cols_out(o, in, rows);
		for (int i = 0; i < 4; i++)
			t[i][j] = o[i];
	}
	for (int i = 0; i < 4 && at[0] + i < y->h; i++) {
		winograd_kernel_cols_out(o, t[i], columns);
		for (int j = 0; j < 4 && at[1] + j < y->w; j++) {
			size_t place = ((size_t)i * (size_t)y->w + (size_t)j) *
			    y->step;
			vec v = b;

			if (how & WINOGRAD_MORE)
				winograd_kernel_read_at(&v, y, first, i, j,
				    is_bf16);
			v += o[j];
			if (is_bf16)
				winograd_kernel_narrow((bf16 *)first + place,
				    &v);
			else if (how & WINOGRAD_STREAM)
				STREAM((float *)first + place, v);
			else
				*(vec *)((float *)first + place) = v;
		}
	}
}

/* A full tile gets constants, so that its loop has no branches. */
INLINE void
winograd_kernel_output_as(const struct winograd_plane *y, const int at[2],
    const int n[2], const float *m, size_t step, const float *bias, int how,
    int is_bf16)
{
	if (n[0] == 4 && n[1] == 4)
		winograd_kernel_output_of(y, at, 4, 4, m, step, bias, how,
		    is_bf16);
	else
		winograd_kernel_output_of(y, at, n[0], n[1], m, step, bias, how,
		    is_bf16);
}

static void
winograd_kernel_output(const struct winograd_plane *y, const int at[2],
    const int n[2], const float *m, size_t step, const float *bias, int how)
{
	if (y->is_bf16)
		winograd_kernel_output_as(y, at, n, m, step, bias, how, 1);
	else
		winograd_kernel_output_as(y, at, n, m, step, bias, how, 0);
}

static void
winograd_kernel_streamed(void)
{
	STREAMED();
}

/* o = 24 G g; the factor 1 / 24 is applied at the end. */
INLINE void
winograd_kernel_cols_weights(vec o[6], const vec g[3])
{
	vec a = 4 * (g[0] + g[2]), b = g[0] + 4 * g[2];

	o[0] = 6 * g[0];
	o[1] = -(a + 4 * g[1]);
	o[2] = -(a - 4 * g[1]);
	o[3] = b + 2 * g[1];
	o[4] = b - 2 * g[1];
	o[5] = 24 * g[2];
}

/* u = G w G', with the factors 1 / 24 of both sides */
static void
winograd_kernel_weights(float *u, size_t step, const float *w)
{
	vec t[6][3], g[3], o[6];

	for (int j = 0; j < 3; j++) {
		for (int i = 0; i < 3; i++)
			g[i] = AT(w + (i * 3 + j) * L);
		winograd_kernel_cols_weights(o, g);
		for (int i = 0; i < 6; i++)
			t[i][j] = o[i];
	}
	for (int i = 0; i < 6; i++) {
		winograd_kernel_cols_weights(o, t[i]);
		for (int j = 0; j < 6; j++)
			*(vec *)(u + (size_t)(i * 6 + j) * step) = o[j] *
			    (1.f / 576);
	}
}

/* o = A y, where y is 0 beyond the first ${n}. */
INLINE void
winograd_kernel_cols_gradient_in(vec o[6], const vec y[4], int n)
{
	vec a = y[0] + y[2], b = y[1] + y[3];
	vec c = y[0] + 4 * y[2], d = 2 * y[1] + 8 * y[3];

	o[0] = y[0];
	o[1] = a + b;
	o[2] = a - b;
	o[3] = c + d;
	o[4] = c - d;
	o[5] = y[n - 1];
}

/* v = A dy A' for one tile */
INLINE void
winograd_kernel_gradient_in_as(float *v, size_t step,
    const struct winograd_plane *y, const int at[2], const int n[2],
    int is_bf16)
{
	vec t[6][4], d[4], o[6];
	int inside = at[0] + 4 <= y->h && at[1] + 4 <= y->w;
	const char *from = winograd_kernel_tile_at(y, at, is_bf16);

	for (int j = 0; j < 4; j++) {
		for (int i = 0; i < 4; i++)
			if (inside || (at[0] + i < y->h && at[1] + j < y->w))
				winograd_kernel_read_at(&d[i], y, from, i, j,
				    is_bf16);
			else
				d[i] = (vec){ 0 };
		winograd_kernel_cols_gradient_in(o, d, n[0]);
		for (int i = 0; i < 6; i++)
			t[i][j] = o[i];
	}
	for (int i = 0; i < 6; i++) {
		winograd_kernel_cols_gradient_in(o, t[i], n[1]);
		for (int j = 0; j < 6; j++)
			*(vec *)(v + (size_t)(i * 6 + j) * step) = o[j];
	}
}

static void
winograd_kernel_gradient_in(float *v, size_t step,
    const struct winograd_plane *y, const int at[2], const int n[2])
{
	if (y->is_bf16)
		winograd_kernel_gradient_in_as(v, step, y, at, n, 1);
	else
		winograd_kernel_gradient_in_as(v, step, y, at, n, 0);
}

/* o = 24 G' m */
INLINE void
winograd_kernel_cols_gradient_out(vec o[3], const vec m[6])
{
	vec a = m[1] + m[2], b = m[2] - m[1];
	vec c = m[3] + m[4], d = m[3] - m[4];

	o[0] = 6 * m[0] - 4 * a + c;
	o[1] = 4 * b + 2 * d;
	o[2] = 4 * (c - a) + 24 * m[5];
}

/* w = G' m G, with the factors 1 / 24 of both sides */
static void
winograd_kernel_gradient_out(float *w, const float *m, size_t step)
{
	vec t[3][6], in[6], o[3];

	for (int j = 0; j < 6; j++) {
		for (int i = 0; i < 6; i++)
			in[i] = AT(m + (size_t)(i * 6 + j) * step);
		winograd_kernel_cols_gradient_out(o, in);
		for (int i = 0; i < 3; i++)
			t[i][j] = o[i];
	}
	for (int i = 0; i < 3; i++) {
		winograd_kernel_cols_gradient_out(o, t[i]);
		for (int j = 0; j < 3; j++)
			*(vec *)(w + (i * 3 + j) * L) = o[j] * (1.f / 576);
	}
}

const struct winograd_kernels ISA_PASTE(winograd_kernels, VT_ISA) = {
	.input = winograd_kernel_input, .product = winograd_kernel_product,
	.output = winograd_kernel_output, .streamed = winograd_kernel_streamed,
	.weights = winograd_kernel_weights,
	.gradient_in = winograd_kernel_gradient_in,
	.gradient_out = winograd_kernel_gradient_out,
};
