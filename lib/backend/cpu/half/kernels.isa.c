/*
 * Loops over rows of bf16.  Written on vectors of 16 channels, which the
 * compiler cuts into what the instruction set has.
 */
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "backend/cpu/half/kernels.h"
#include "base/isa.h"

#define L 16
#define INLINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(4 * L), aligned(4)));
typedef uint32_t uvec __attribute__((vector_size(4 * L), aligned(4)));
typedef int32_t ivec __attribute__((vector_size(4 * L), aligned(4)));
typedef uint16_t hvec __attribute__((vector_size(2 * L), aligned(2)));

#define AT(p, i) (*(vec *)((p) + (i)))
#define CAT(p, i) (*(const vec *)((p) + (i)))

/* Vectors go by address: passed by value they would need the instructions.
 * GCC makes halves of the conversions, unless they are named. */
INLINE void
load(vec *v, const bf16 *p)
{
#if defined(__AVX512F__)
	*v = (vec)_mm512_slli_epi32(_mm512_cvtepu16_epi32(
	    _mm256_loadu_si256((const __m256i *)p)), 16);
#else
	*v = (vec)(__builtin_convertvector(*(const hvec *)p, uvec) << 16);
#endif
}

INLINE void
round16(hvec *h, const vec *v)
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
store(bf16 *p, const vec *v)
{
	round16((hvec *)p, v);
}

#if defined(__AVX2__)
INLINE void
store_past(bf16 *p, const vec *v)
{
	hvec h;

	round16(&h, v);
	_mm256_stream_si256((__m256i *)p, (__m256i)h);
}
#define STREAMED() _mm_sfence()
#else
#define store_past store
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

static void
widen(float *to, const bf16 *from, size_t n)
{
	size_t i = 0;

	for (; i + L <= n; i += L)
		load(&AT(to, i), from + i);
	for (; i < n; i++)
		to[i] = bf16_wide(from[i]);
}

static void
narrow(bf16 *to, const float *from, size_t n)
{
	size_t i = 0;

	for (; i + L <= n; i += L)
		store(to + i, &CAT(from, i));
	for (; i < n; i++)
		to[i] = bf16_of(from[i]);
}

static void
add(bf16 *y, const bf16 *a, const bf16 *b, size_t n)
{
	size_t i = 0;
	vec va, vb;

	for (; i + L <= n; i += L) {
		load(&va, a + i);
		load(&vb, b + i);
		va += vb;
		store(y + i, &va);
	}
	for (; i < n; i++)
		y[i] = bf16_of(bf16_wide(a[i]) + bf16_wide(b[i]));
}

static void
planes_of(float *planes, const bf16 *x, size_t rows, int c)
{
	for (size_t r = 0; r < rows; r++)
		for (int k = 0; k < c; k += L, x += L)
			load(&AT(planes, (size_t)k * rows + r * L), x);
}

static void
rows_of(bf16 *x, const float *planes, size_t rows, int c, int more)
{
	for (size_t r = 0; r < rows; r++)
		for (int k = 0; k < c; k += L, x += L) {
			vec v = CAT(planes, (size_t)k * rows + r * L), w;

			if (more) {
				load(&w, x);
				v += w;
			}
			store(x, &v);
		}
}

/* sum += the rows, four at a time: a sum lies in memory between them. */
INLINE void
add_rows(const bf16 *x, size_t rows, int c, float *sum)
{
	size_t r = 0, s = (size_t)c;
	vec v[4];

	for (; r + 4 <= rows; r += 4, x += 4 * s)
		for (int k = 0; k < c; k += L) {
			for (size_t i = 0; i < 4; i++)
				load(&v[i], x + i * s + k);
			AT(sum, k) += (v[0] + v[1]) + (v[2] + v[3]);
		}
	for (; r < rows; r++, x += s)
		for (int k = 0; k < c; k += L) {
			load(&v[0], x + k);
			AT(sum, k) += v[0];
		}
}

static void
sum_rows(const bf16 *x, size_t rows, int c, float *sum)
{
	memset(sum, 0, (size_t)c * sizeof(*sum));
	add_rows(x, rows, c, sum);
}

static void
fill(bf16 *x, size_t rows, int c, const float *v, int more)
{
	for (size_t r = 0; r < rows; r++)
		for (int k = 0; k < c; k += L, x += L) {
			vec w = CAT(v, k), was;

			if (more) {
				load(&was, x);
				w += was;
			}
			store(x, &w);
		}
}

/* Two passes over rows that the cache holds: no cancellation. */
static void
stats(const bf16 *x, size_t rows, int c, float *mean, float *m2)
{
	size_t r = 0, s = (size_t)c;
	vec d[4];

	sum_rows(x, rows, c, mean);
	for (int k = 0; k < c; k += L)
		AT(mean, k) /= (float)rows;
	memset(m2, 0, s * sizeof(*m2));
	for (; r + 4 <= rows; r += 4, x += 4 * s)
		for (int k = 0; k < c; k += L) {
			const vec m = CAT(mean, k);

			for (size_t i = 0; i < 4; i++) {
				load(&d[i], x + i * s + k);
				d[i] -= m;
			}
			AT(m2, k) += (d[0] * d[0] + d[1] * d[1]) +
			    (d[2] * d[2] + d[3] * d[3]);
		}
	for (; r < rows; r++, x += s)
		for (int k = 0; k < c; k += L) {
			load(&d[0], x + k);
			d[0] -= CAT(mean, k);
			AT(m2, k) += d[0] * d[0];
		}
}

INLINE void
apply_all(const struct half_apply *p, size_t rows, int c, int res, int relu,
    int mask, int stream)
{
	const bf16 *x = p->x, *add_to = p->res;
	uint16_t *bits = p->mask;
	bf16 *y = p->y;

	for (size_t r = 0; r < rows; r++)
		for (int k = 0; k < c; k += L, x += L, y += L) {
			vec v, w;

			load(&v, x);
			v = v * CAT(p->a, k) + CAT(p->b, k);
			if (res) {
				load(&w, add_to);
				add_to += L;
				v += w;
			}
			if (relu) {
				ivec open = v > 0;

				v = (vec)((ivec)v & open);
				if (mask)
					*bits++ = (uint16_t)BITS(open);
			}
			if (stream)
				store_past(y, &v);
			else
				store(y, &v);
		}
}

INLINE void
apply_how(const struct half_apply *p, size_t rows, int c, int stream)
{
	if (p->res == NULL && p->relu)
		apply_all(p, rows, c, 0, 1, 0, stream);
	else if (p->res == NULL)
		apply_all(p, rows, c, 0, 0, 0, stream);
	else if (p->relu && p->mask != NULL)
		apply_all(p, rows, c, 1, 1, 1, stream);
	else
		apply_all(p, rows, c, 1, p->relu, 0, stream);
}

static void
apply(const struct half_apply *p, size_t rows, int c)
{
	if (p->stream)
		apply_how(p, rows, c, 1);
	else
		apply_how(p, rows, c, 0);
	STREAMED();
}

/* What lets a gradient through. */
enum gate { OPEN, BY_MASK, BY_X };

/* The gradient at number ${i}, in channels ${k}; and x there. */
INLINE void
gradient(vec *d, vec *x, const struct half_gradient *g, size_t i, int k,
    int two, enum gate gate)
{
	vec e;

	load(d, g->dy + i);
	load(x, g->x + i);
	if (two) {
		load(&e, g->more + i);
		*d += e;
	}
	if (gate == BY_MASK) {
#if defined(__AVX512F__)
		*d = (vec)_mm512_maskz_mov_ps(g->mask[i / L], (__m512)*d);
#else
		for (int c = 0; c < L; c++)
			(*d)[c] = g->mask[i / L] >> c & 1 ? (*d)[c] : 0;
#endif
	} else if (gate == BY_X) {
		*d = (vec)((ivec)*d &
		    (*x * CAT(g->a, k) + CAT(g->b, k) > 0));
	}
}

/* Call f(..., two, gate) with constants that the compiler can see. */
#define BY_GATE(f, two, ...) do { \
	if (!g->relu) \
		f(__VA_ARGS__, two, OPEN); \
	else if (g->mask != NULL) \
		f(__VA_ARGS__, two, BY_MASK); \
	else \
		f(__VA_ARGS__, two, BY_X); \
} while (0)
#define BY_PARTS(f, ...) do { \
	if (g->more != NULL) \
		BY_GATE(f, 1, __VA_ARGS__); \
	else \
		BY_GATE(f, 0, __VA_ARGS__); \
} while (0)

enum keep { NOTHING, WRITE, ADD };

INLINE void
sums_all(const struct half_gradient *g, size_t rows, int c, const float *mean,
    float *db, float *ds, bf16 *res, enum keep keep, int two, enum gate gate)
{
	size_t i = 0;

	for (size_t r = 0; r < rows; r++)
		for (int k = 0; k < c; k += L, i += L) {
			vec d, x, w;

			gradient(&d, &x, g, i, k, two, gate);
			AT(db, k) += d;
			AT(ds, k) += d * (x - CAT(mean, k));
			if (keep == ADD) {
				load(&w, res + i);
				d += w;
			}
			if (keep != NOTHING)
				store(res + i, &d);
		}
}

static void
sums(const struct half_gradient *g, size_t rows, int c, const float *mean,
    float *db, float *ds, bf16 *res, int more)
{
	if (res == NULL)
		BY_PARTS(sums_all, g, rows, c, mean, db, ds, res, NOTHING);
	else if (more)
		BY_PARTS(sums_all, g, rows, c, mean, db, ds, res, ADD);
	else
		BY_PARTS(sums_all, g, rows, c, mean, db, ds, res, WRITE);
}

INLINE void
back_all(bf16 *dx, const struct half_gradient *g, size_t rows, int c,
    const float *va, const float *vb, const float *vc, int more, int two,
    enum gate gate)
{
	size_t i = 0;

	for (size_t r = 0; r < rows; r++)
		for (int k = 0; k < c; k += L, i += L) {
			vec d, x, w;

			gradient(&d, &x, g, i, k, two, gate);
			d = d * CAT(va, k) + x * CAT(vb, k) + CAT(vc, k);
			if (more) {
				load(&w, dx + i);
				d += w;
				store(dx + i, &d);
			} else {
				store_past(dx + i, &d);
			}
		}
}

static void
back(bf16 *dx, const struct half_gradient *g, size_t rows, int c,
    const float *va, const float *vb, const float *vc, int more)
{
	if (more)
		BY_PARTS(back_all, dx, g, rows, c, va, vb, vc, 1);
	else
		BY_PARTS(back_all, dx, g, rows, c, va, vb, vc, 0);
	STREAMED();
}

static void
maxpool(bf16 *y, uint8_t *tap, const bf16 *x, int c, const struct window *v,
    int h)
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
					load(&here, x + ((size_t)(h0 + a) *
					    v->in_w + w0 + b) * c + k);
					better = first ? (ivec){ 0 } - 1 :
					    here > best;
					best = (vec)(((ivec)here & better) |
					    ((ivec)best & ~better));
					which = ((a * v->k[1] + b) & better) |
					    (which & ~better);
					first = 0;
				}
			store(y, &best);
			for (int i = 0; i < L; i++)
				tap[i] = (uint8_t)which[i];
		}
}

/* The windows over input place ${at} along one axis: outputs from, to. */
INLINE void
windows(int at, int p, int k, int s, int out, int *from, int *to)
{
	*from = at + p < k ? 0 : (at + p - k) / s + 1;
	*to = (at + p) / s;
	*to = *to < out ? *to : out - 1;
}

static void
maxpool_back(bf16 *dx, const bf16 *dy, const uint8_t *tap, int c,
    const struct window *v, int h, int more)
{
	int from[2], to[2];

	windows(h, v->p[0], v->k[0], v->s[0], v->out_h, &from[0], &to[0]);
	for (int w = 0; w < v->in_w; w++) {
		windows(w, v->p[1], v->k[1], v->s[1], v->out_w, &from[1],
		    &to[1]);
		for (int k = 0; k < c; k += L, dx += L) {
			vec sum = { 0 }, d;

			if (more)
				load(&sum, dx);
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
					load(&d, dy + i);
					sum += (vec)((ivec)d & here);
				}
			store(dx, &sum);
		}
	}
}

const struct half_kernels ISA_PASTE(half_kernels, VT_ISA) = {
	.widen = widen, .narrow = narrow, .add = add, .planes = planes_of,
	.rows = rows_of, .sum = sum_rows, .fill = fill, .stats = stats,
	.apply = apply, .sums = sums, .back = back, .maxpool = maxpool,
	.maxpool_back = maxpool_back,
};
