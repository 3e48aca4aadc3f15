/*
 * Kernels of batch normalization, fused with the addition and the relu after
 * it.  They use vectors of one position's lanes, which gcc and clang support.
 * Only streaming stores and the bits of a comparison need intrinsics.
 */
#include "backend/cpu/norm_kernels.h"
#include "backend/cpu/vec.h"
#include "backend/cpu/wide.h"
#include "base/isa.h"

#if defined(__AVX512F__)
#define BITS(t) _mm512_movepi32_mask((__m512i)(t))
#elif defined(__AVX2__)
#define BITS(t) _mm256_movemask_ps((__m256)(t))
#else
#define BITS(t) norm_kernel_bits_of(&(t))

INLINE unsigned
norm_kernel_bits_of(const ivec *t)
{
	unsigned bits = 0;

	LANES(c) bits |= ((unsigned)(*t)[c] & 1) << c;
	return bits;
}
#endif

/*
 * mean = sum of x / hw, m2 = sum of (x - mean)^2
 *
 * Two passes over a plane that is in the cache.  One pass, the sum of x^2
 * minus hw mean^2, would cancel digits.
 */
static void
norm_kernel_stats(const float *x, size_t hw, float *mean, float *m2)
{
	vec s[4] = { { 0 } }, m;
	size_t i = 0;

	/* Four running sums hide the latency of an addition. */
	for (; i + 4 <= hw; i += 4)
		for (size_t k = 0; k < 4; k++)
			s[k] += AT(x, i + k);
	for (; i < hw; i++)
		s[0] += AT(x, i);
	m = ((s[0] + s[1]) + (s[2] + s[3])) / (float)hw;
	for (int k = 0; k < 4; k++)
		s[k] = (vec){ 0 };
	for (i = 0; i + 4 <= hw; i += 4)
		for (size_t k = 0; k < 4; k++) {
			vec d = AT(x, i + k) - m;

			s[k] += d * d;
		}
	for (; i < hw; i++) {
		vec d = AT(x, i) - m;

		s[0] += d * d;
	}
	*(vec *)mean = m;
	*(vec *)m2 = (s[0] + s[1]) + (s[2] + s[3]);
}

/*
 * y = x a + b + res; with relu, y = y <= 0 ? 0 : y, and mask = !(y <= 0)
 */
INLINE void
norm_kernel_apply_all(const struct cpu_norm_apply *p, size_t hw, int res,
    int relu, int copy, int mask)
{
	const vec a = *(const vec *)p->a, b = *(const vec *)p->b;

	for (size_t i = 0; i < hw; i++) {
		vec v = AT(p->x, i) * a + b;

		if (res)
			v += AT(p->res, i);
		if (relu) {
			ivec open = ~(v <= 0);	/* NaN passes */

			v = (vec)((ivec)v & open);
			if (mask)
				p->mask[i] = (uint16_t)BITS(open);
		}
		STREAM(p->y + i * L, v);
		if (copy)
			STREAM(p->copy + i * L, v);
	}
}

/*
 * Call the loop with constants, so that each case is compiled without branches.
 */
static void
norm_kernel_apply(const struct cpu_norm_apply *p, size_t hw)
{
	if (p->copy != NULL)
		norm_kernel_apply_all(p, hw, p->res != NULL, p->relu, 1,
		    p->mask != NULL);
	else if (p->res == NULL && p->relu && p->mask != NULL)
		norm_kernel_apply_all(p, hw, 0, 1, 0, 1);
	else if (p->res == NULL && p->relu)
		norm_kernel_apply_all(p, hw, 0, 1, 0, 0);
	else if (p->res == NULL)
		norm_kernel_apply_all(p, hw, 0, 0, 0, 0);
	else if (p->relu && p->mask != NULL)
		norm_kernel_apply_all(p, hw, 1, 1, 0, 1);
	else
		norm_kernel_apply_all(p, hw, 1, p->relu, 0, 0);
	STREAMED();
}

/* v = sum over k of from[k] & lane[k] */
INLINE void
norm_kernel_mixed(vec *v, const struct norm_mix *m, size_t i)
{
	*v = (vec)(((ivec)AT(m->from[0], i) & *(const ivec *)m->lane[0]) |
	    ((ivec)AT(m->from[1], i) & *(const ivec *)m->lane[1]) |
	    ((ivec)AT(m->from[2], i) & *(const ivec *)m->lane[2]));
}

/*
 * y = x a + b + res with mixed x and res, and relu; 0 in lanes without a source
 */
static void
norm_kernel_apply_mix(const struct norm_apply_mix *p, size_t hw)
{
	const vec a = *(const vec *)p->a, b = *(const vec *)p->b;
	const ivec some = *(const ivec *)p->x.lane[0] |
	    *(const ivec *)p->x.lane[1] | *(const ivec *)p->x.lane[2];
	vec v, res;

	for (size_t i = 0; i < hw; i++) {
		norm_kernel_mixed(&v, &p->x, i);
		v = v * a + b;
		if (p->add) {
			norm_kernel_mixed(&res, &p->res, i);
			v += res;
		}
		if (p->relu)
			v = (vec)((ivec)v & ~(v <= 0));
		v = (vec)((ivec)v & some);
		STREAM(p->y + i * L, v);
	}
	STREAMED();
}

/* How the gradient of the relu is decided: not at all, by the mask, or by x. */
enum norm_gate { OPEN, BY_MASK, BY_X };

/* Terms of the gradient of y. */
enum norm_parts { ONE, TWO, MIX, ONE_AND_MIX };

struct norm_gated {
	const struct norm_gradient *g;
	vec a, b;
	ivec bit;			/* 1 << lane */
};

INLINE void
norm_kernel_gated(struct norm_gated *out, const struct norm_gradient *g,
    enum norm_gate gate)
{
	struct norm_gated v = { .g = g };

	if (gate == BY_X) {
		v.a = *(const vec *)g->a;
		v.b = *(const vec *)g->b;
	}
	LANES(c) v.bit[c] = 1 << c;
	*out = v;
}

/* v = (sum of the terms) * (relu is open) */
INLINE void
norm_kernel_gradient(vec *out, const struct norm_gated *v, size_t i,
    enum norm_parts parts, enum norm_gate gate)
{
	vec d, e;

	if (parts == MIX)
		norm_kernel_mixed(&d, v->g->mix, i);
	else
		d = AT(v->g->dy[0], i);
	if (parts == TWO)
		d += AT(v->g->dy[1], i);
	if (parts == ONE_AND_MIX) {
		norm_kernel_mixed(&e, v->g->mix, i);
		d += e;
	}
	if (gate == BY_MASK) {
		ivec m = v->bit & (int32_t)v->g->mask[i];

		d = (vec)((ivec)d & (m != 0));
	} else if (gate == BY_X) {
		d = (vec)((ivec)d & ~(AT(v->g->x, i) * v->a + v->b <= 0));
	}
	*out = d;
}

static enum norm_gate
norm_kernel_gate_of(const struct norm_gradient *g)
{
	return !g->relu ? OPEN : g->mask != NULL ? BY_MASK : BY_X;
}

enum norm_keep { NOTHING, WRITE, ADD };

/*
 * db = sum of v, ds = sum of v (x - mean), res (+)= v
 *
 * Two running sums of each hide the latency of an addition.
 */
INLINE void
norm_kernel_sums_all(const struct norm_gradient *g, size_t hw,
    const float *mean, float *db, float *ds, float *res, enum norm_parts parts,
    enum norm_gate gate, enum norm_keep keep)
{
	const vec m = *(const vec *)mean;
	vec b[2] = { { 0 } }, s[2] = { { 0 } };
	struct norm_gated v;

	norm_kernel_gated(&v, g, gate);
	for (size_t i = 0; i < hw; i++) {
		vec d;

		norm_kernel_gradient(&d, &v, i, parts, gate);
		if (keep == WRITE)
			STREAM(res + i * L, d);
		else if (keep == ADD)
			*(vec *)(res + i * L) += d;
		b[i % 2] += d;
		s[i % 2] += d * (AT(g->x, i) - m);
	}
	*(vec *)db = b[0] + b[1];
	*(vec *)ds = s[0] + s[1];
	if (keep == WRITE)
		STREAMED();
}

/*
 * Call f(..., parts, gate) with constants, so that each case is compiled
 * without branches.
 */
#define BY_GATE(f, parts, ...) (norm_kernel_gate_of(g) == OPEN ? \
    f(__VA_ARGS__, parts, OPEN) : norm_kernel_gate_of(g) == BY_MASK ? \
    f(__VA_ARGS__, parts, BY_MASK) : f(__VA_ARGS__, parts, BY_X))
#define BY_PARTS(f, ...) (g->mix != NULL ? g->n > 1 ? \
    BY_GATE(f, ONE_AND_MIX, __VA_ARGS__) : BY_GATE(f, MIX, __VA_ARGS__) : \
    g->n > 1 ? BY_GATE(f, TWO, __VA_ARGS__) : BY_GATE(f, ONE, __VA_ARGS__))

/* Compile each case with constants, so that its loop has no branches. */
INLINE void
norm_kernel_sums_n(const struct norm_gradient *g, size_t hw, const float *mean,
    float *db, float *ds, float *res, int more, enum norm_parts parts,
    enum norm_gate gate)
{
	if (res == NULL)
		norm_kernel_sums_all(g, hw, mean, db, ds, res, parts, gate,
		    NOTHING);
	else if (more)
		norm_kernel_sums_all(g, hw, mean, db, ds, res, parts, gate,
		    ADD);
	else
		norm_kernel_sums_all(g, hw, mean, db, ds, res, parts, gate,
		    WRITE);
}

static void
norm_kernel_sums(const struct norm_gradient *g, size_t hw, const float *mean,
    float *db, float *ds, float *res, int more)
{
	BY_PARTS(norm_kernel_sums_n, g, hw, mean, db, ds, res, more);
}

/* dx (+)= a v + b x + c */
INLINE void
norm_kernel_back_n(float *dx, const struct norm_gradient *g, size_t hw,
    const float *a, const float *b, const float *c, int more,
    enum norm_parts parts, enum norm_gate gate)
{
	const vec va = *(const vec *)a, vb = *(const vec *)b;
	const vec vc = *(const vec *)c;
	struct norm_gated v;

	norm_kernel_gated(&v, g, gate);
	for (size_t i = 0; i < hw; i++) {
		vec d;

		norm_kernel_gradient(&d, &v, i, parts, gate);
		d = d * va + AT(g->x, i) * vb + vc;
		if (more)
			*(vec *)(dx + i * L) += d;
		else
			STREAM(dx + i * L, d);
	}
}

static void
norm_kernel_back(float *dx, const struct norm_gradient *g, size_t hw,
    const float *a, const float *b, const float *c, int more)
{
	BY_PARTS(norm_kernel_back_n, dx, g, hw, a, b, c, more);
	STREAMED();
}

const struct norm_kernels ISA_PASTE(norm_kernels, VT_ISA) = {
	.stats = norm_kernel_stats, .apply = norm_kernel_apply,
	.apply_mix = norm_kernel_apply_mix, .sums = norm_kernel_sums,
	.back = norm_kernel_back,
};
