/* Loops of batch normalisation over rows of bf16 (norm_kernels.h). */
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "backend/cpu/half/norm_kernels.h"
#include "base/isa.h"

#define L 16
#if defined(__AVX512F__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static			/* bf16 runs with AVX-512 alone */
#endif

typedef float vec __attribute__((vector_size(4 * L), aligned(4)));
typedef uint32_t uvec __attribute__((vector_size(4 * L), aligned(2)));
typedef int32_t ivec __attribute__((vector_size(4 * L), aligned(4)));
typedef uint16_t hvec __attribute__((vector_size(2 * L), aligned(2)));

#define AT(p, i) (*(vec *)((p) + (i)))
#define CAT(p, i) (*(const vec *)((p) + (i)))
#define ODD 0xffff0000u

/* r = a b + c, rounded once where the set can. */
#if defined(__AVX512F__)
#define FMA(r, a, b, c) ((r) = (vec)_mm512_fmadd_ps((__m512)(a), (__m512)(b), \
    (__m512)(c)))
#else
#define FMA(r, a, b, c) ((r) = (a) * (b) + (c))
#endif

/* Vectors go by address: passed by value they would need the instructions.
 * ${two}: 32 numbers, even and odd; otherwise 16 as they lie. */
INLINE void
load(vec v[2], const bf16 *p, int two)
{
	if (two) {
		const uvec u = *(const uvec *)p;

		v[0] = (vec)(u << 16);
		v[1] = (vec)(u & ODD);
	} else {
		v[0] = (vec)(__builtin_convertvector(*(const hvec *)p, uvec) <<
		    16);
	}
}

/* To the nearest, of two the even one; NaN stays NaN.  In the upper half. */
INLINE void
round16(uvec *r, const vec *v)
{
	const uvec u = (uvec)*v, is = (uvec)(*v != *v);

	*r = ((u | 0x400000) & is) | ((u + 0x7fff + (u >> 16 & 1)) & ~is);
}

INLINE void
store(bf16 *p, const vec v[2], int two, int stream)
{
	uvec r[2];

	round16(&r[0], &v[0]);
	if (!two) {
		*(hvec *)p = __builtin_convertvector(r[0] >> 16, hvec);
		return;
	}
	round16(&r[1], &v[1]);
	r[0] = r[0] >> 16 | (r[1] & ODD);
#if defined(__AVX512F__)
	if (stream)
		_mm512_stream_si512((void *)p, (__m512i)r[0]);
	else
#endif
		*(uvec *)p = r[0];
	(void)stream;
}

#if defined(__AVX512F__)
#define STREAMED() _mm_sfence()
#else
#define STREAMED() ((void)0)
#endif

#if defined(__AVX512F__)
#define BITS(t) _mm512_movepi32_mask((__m512i)(t))
#else
#define BITS(t) bits_of(&(t))

INLINE unsigned
bits_of(const ivec *t)
{
	unsigned bits = 0;

	for (int c = 0; c < L; c++)
		bits |= ((unsigned)(*t)[c] & 1) << c;
	return bits;
}
#endif

/* f(..., k, two) for all channels of a window. */
#define CHANNELS(c, f, ...) do { \
	int k = 0; \
	for (; k + 2 * L <= (c); k += 2 * L) \
		f(__VA_ARGS__, k, 1); \
	if (k < (c)) \
		f(__VA_ARGS__, k, 0); \
} while (0)

/* ---- statistics ---- */

/*
 * One pass: deviations from the first row.  That row's own is one of those
 * summed, so that rows times the last digit is the most that cancels.
 */
INLINE void
deviations(const bf16 *x, size_t row, int rows, float *sum, float *m2,
    const bf16 *first, int k, int two)
{
	vec d[4][2], f[2];

	load(f, first + k, two);
	for (int i = 0; i < rows; i++)
		load(d[i], x + (size_t)i * row + k, two);
	for (int j = 0; j <= two; j++) {
		float *s = sum + k + j * L, *m = m2 + k + j * L;

		for (int i = 0; i < rows; i++)
			d[i][j] -= f[j];
		if (rows == 4) {
			vec a = d[0][j] * d[0][j], b = d[2][j] * d[2][j];

			AT(s, 0) += (d[0][j] + d[1][j]) + (d[2][j] + d[3][j]);
			FMA(a, d[1][j], d[1][j], a);
			FMA(b, d[3][j], d[3][j], b);
			AT(m, 0) += a + b;
		} else {
			AT(s, 0) += d[0][j];
			FMA(AT(m, 0), d[0][j], d[0][j], AT(m, 0));
		}
	}
}

INLINE void
mean_of(const bf16 *first, float rows, float *sum, float *m2, int k, int two)
{
	vec f[2];

	load(f, first + k, two);
	for (int j = 0; j <= two; j++) {
		float *s = sum + k + j * L, *m = m2 + k + j * L;
		const vec d = CAT(s, 0) / rows, rest = CAT(m, 0) - CAT(s, 0) * d;

		AT(m, 0) = (vec)((ivec)rest & (rest > 0));
		AT(s, 0) = f[j] + d;
	}
}

static void
stats(const bf16 *x, size_t rows, int c, float *mean, float *m2)
{
	const bf16 *first = x;
	size_t row = (size_t)c, r = 0;

	memset(mean, 0, row * sizeof(*mean));
	memset(m2, 0, row * sizeof(*m2));
	for (; r + 4 <= rows; r += 4, x += 4 * row)
		CHANNELS(c, deviations, x, row, 4, mean, m2, first);
	for (; r < rows; r++, x += row)
		CHANNELS(c, deviations, x, row, 1, mean, m2, first);
	CHANNELS(c, mean_of, first, (float)rows, mean, m2);
}

/* ---- pieces ---- */

typedef double dvec __attribute__((vector_size(64), aligned(8)));
typedef float fvec __attribute__((vector_size(32), aligned(4)));

#define DAT(p, i) (*(dvec *)((p) + (i)))
#define WIDE(p, i) __builtin_convertvector(*(const fvec *)((p) + (i)), dvec)

/* The rows of piece ${i} of an image. */
INLINE double
rows_in(const struct half_pieces *s, int i)
{
	return (double)(i == s->cuts - 1 ? s->last : s->rows);
}

static void
join(const struct half_pieces *s, int at, double mean[16], double m2[16])
{
	double all = 1 / ((double)s->images *
	    ((double)s->rows * (s->cuts - 1) + (double)s->last));

	for (int k = 0; k < 16; k += 8) {
		const float *p = s->p + at + k, *q = s->q + at + k;
		dvec m = { 0 }, v = { 0 }, d;

		for (int i = 0; i < s->images; i++)
			for (int j = 0; j < s->cuts; j++, p += s->row)
				m += rows_in(s, j) * WIDE(p, 0);
		m *= all;
		p = s->p + at + k;
		for (int i = 0; i < s->images; i++)
			for (int j = 0; j < s->cuts; j++) {
				d = WIDE(p, 0) - m;
				v += WIDE(q, 0) + rows_in(s, j) * d * d;
				p += s->row;
				q += s->row;
			}
		DAT(mean, k) = m;
		DAT(m2, k) = v;
	}
}

static void
add(const struct half_pieces *s, int at, double p[16], double q[16])
{
	size_t end = (size_t)s->images * (size_t)s->cuts * s->row;

	for (int k = 0; k < 16; k += 8) {
		dvec a = { 0 }, b = { 0 };

		for (size_t i = (size_t)(at + k); i < end; i += s->row) {
			a += WIDE(s->p, i);
			b += WIDE(s->q, i);
		}
		DAT(p, k) = a;
		DAT(q, k) = b;
	}
}

/* ---- forward ---- */

INLINE void
apply_at(const struct half_apply *p, size_t r, int res, int relu, int mask,
    int k, int two)
{
	vec v[2], w[2];

	load(v, p->x + r * p->row + k, two);
	if (res)
		load(w, p->res + r * p->res_row + k, two);
	for (int j = 0; j <= two; j++) {
		FMA(v[j], v[j], CAT(p->a, k + j * L), CAT(p->b, k + j * L));
		if (res)
			v[j] += w[j];
		if (relu) {
			const ivec open = v[j] > 0;

			v[j] = (vec)((ivec)v[j] & open);
			if (mask)
				p->mask[(r * p->row + (size_t)k) / L +
				    (size_t)j] = (uint16_t)BITS(open);
		}
	}
	store(p->y + r * p->y_row + k, v, two, p->stream);
	if (p->copy != NULL)
		store(p->copy + r * p->row + k, v, two, p->stream);
}

INLINE void
apply_all(const struct half_apply *w, int n, size_t rows, int res, int relu,
    int mask)
{
	for (size_t r = 0; r < rows; r++)
		for (int i = 0; i < n; i++) {
			const struct half_apply p = w[i];

			CHANNELS(p.c, apply_at, &p, r, res, relu, mask);
		}
}

static void
apply(const struct half_apply *w, int n, size_t rows)
{
	if (w->res == NULL && w->relu)
		apply_all(w, n, rows, 0, 1, 0);
	else if (w->res == NULL)
		apply_all(w, n, rows, 0, 0, 0);
	else if (w->relu && w->mask != NULL)
		apply_all(w, n, rows, 1, 1, 1);
	else if (w->relu)
		apply_all(w, n, rows, 1, 1, 0);
	else
		apply_all(w, n, rows, 1, 0, 0);
	STREAMED();
}

/* ---- backward ---- */

/* What lets a gradient through. */
enum gate { OPEN, BY_MASK, BY_X };

/* The gradient of row ${r} in channels ${k}, and x there. */
INLINE void
gradient(vec d[2], vec x[2], const struct half_gradient *g, size_t r, int more,
    enum gate gate, int k, int two)
{
	size_t i = r * g->row + (size_t)k;
	vec e[2] = { { 0 }, { 0 } };

	load(x, g->x + i, two);
	load(d, g->dy + r * g->dy_row + k, two);
	if (more)
		load(e, g->more + r * g->more_row + k, two);
	for (int j = 0; j <= two; j++) {
		if (more)
			d[j] += e[j];
		if (gate == BY_MASK) {
			unsigned bits = g->mask[i / L + (size_t)j];

#if defined(__AVX512F__)
			d[j] = (vec)_mm512_maskz_mov_ps((__mmask16)bits,
			    (__m512)d[j]);
#else
			for (int c = 0; c < L; c++)
				d[j][c] = bits >> c & 1 ? d[j][c] : 0;
#endif
		} else if (gate == BY_X) {
			vec y;

			FMA(y, x[j], CAT(g->a, k + j * L),
			    CAT(g->b, k + j * L));
			d[j] = (vec)((ivec)d[j] & (y > 0));
		}
	}
}

/* Call f(..., more, gate) with constants that the compiler can see. */
#define BY_GATE(f, more, ...) do { \
	if (!w->relu) \
		f(__VA_ARGS__, more, OPEN); \
	else if (w->mask != NULL) \
		f(__VA_ARGS__, more, BY_MASK); \
	else \
		f(__VA_ARGS__, more, BY_X); \
} while (0)
#define BY_PARTS(f, ...) do { \
	if (w->more != NULL) \
		BY_GATE(f, 1, __VA_ARGS__); \
	else \
		BY_GATE(f, 0, __VA_ARGS__); \
} while (0)

enum keep { NOTHING, WRITE, ADD };

struct sums { const float *mean; float *db, *ds; bf16 *res; int stream; };

INLINE void
sums_at(const struct half_gradient *g, const struct sums *s, size_t r, int rows,
    enum keep keep, int more, enum gate gate, int k, int two)
{
	vec d[2], x[2], w[2], db[2], ds[2];
	int at = g->first + k;

	for (int i = 0; i < rows; i++) {
		bf16 *res = s->res + (r + (size_t)i) * g->row + at;

		gradient(d, x, g, r + (size_t)i, more, gate, k, two);
		if (keep == ADD)
			load(w, res, two);
		for (int j = 0; j <= two; j++) {
			const vec e = x[j] - CAT(s->mean, at + j * L);

			db[j] = i == 0 ? d[j] : db[j] + d[j];
			if (i == 0)
				ds[j] = d[j] * e;
			else
				FMA(ds[j], d[j], e, ds[j]);
			if (keep == ADD)
				d[j] += w[j];
		}
		if (keep != NOTHING)
			store(res, d, two, keep == WRITE && s->stream);
	}
	for (int j = 0; j <= two; j++) {
		AT(s->db, at + j * L) += db[j];
		AT(s->ds, at + j * L) += ds[j];
	}
}

INLINE void
sums_rows(const struct half_gradient *w, int n, const struct sums *s, size_t r,
    int rows, enum keep keep, int more, enum gate gate)
{
	for (int i = 0; i < n; i++) {
		const struct half_gradient g = w[i];

		CHANNELS(g.c, sums_at, &g, s, r, rows, keep, more, gate);
	}
}

INLINE void
sums_all(const struct half_gradient *w, int n, const struct sums *s,
    size_t rows, enum keep keep, int more, enum gate gate)
{
	size_t r = 0;

	for (; r + 4 <= rows; r += 4)
		sums_rows(w, n, s, r, 4, keep, more, gate);
	for (; r < rows; r++)
		sums_rows(w, n, s, r, 1, keep, more, gate);
}

static void
sums(const struct half_gradient *w, int n, size_t rows, const float *mean,
    float *db, float *ds, bf16 *res, int more, int stream)
{
	const struct sums s = { mean, db, ds, res, stream };

	if (res == NULL)
		BY_PARTS(sums_all, w, n, &s, rows, NOTHING);
	else if (more)
		BY_PARTS(sums_all, w, n, &s, rows, ADD);
	else
		BY_PARTS(sums_all, w, n, &s, rows, WRITE);
	STREAMED();
}

struct factors { const float *a, *b, *c; int stream; };

INLINE void
back_at(const struct half_gradient *g, bf16 *dx, const struct factors *f,
    size_t r, enum keep keep, int more, enum gate gate, int k, int two)
{
	vec d[2], x[2], w[2];
	int at = g->first + k;

	dx += r * g->row + (size_t)at;
	gradient(d, x, g, r, more, gate, k, two);
	if (keep == ADD)
		load(w, dx, two);
	for (int j = 0; j <= two; j++) {
		int c = at + j * L;

		FMA(x[j], x[j], CAT(f->b, c), CAT(f->c, c));
		FMA(d[j], d[j], CAT(f->a, c), x[j]);
		if (keep == ADD)
			d[j] += w[j];
	}
	store(dx, d, two, keep == WRITE && f->stream);
}

INLINE void
back_all(const struct half_gradient *w, int n, bf16 *dx,
    const struct factors *f, size_t rows, enum keep keep, int more,
    enum gate gate)
{
	for (size_t r = 0; r < rows; r++)
		for (int i = 0; i < n; i++) {
			const struct half_gradient g = w[i];

			CHANNELS(g.c, back_at, &g, dx, f, r, keep, more, gate);
		}
}

static void
back(bf16 *dx, const struct half_gradient *w, int n, size_t rows,
    const float *va, const float *vb, const float *vc, int more, int stream)
{
	const struct factors f = { va, vb, vc, stream };

	if (more)
		BY_PARTS(back_all, w, n, dx, &f, rows, ADD);
	else
		BY_PARTS(back_all, w, n, dx, &f, rows, WRITE);
	STREAMED();
}

const struct half_norm_kernels ISA_PASTE(half_norm_kernels, VT_ISA) = {
	.stats = stats, .join = join, .add = add, .apply = apply, .sums = sums,
	.back = back,
};
