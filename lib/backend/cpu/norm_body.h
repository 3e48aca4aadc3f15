/*
 * The kernels of norm_kernels.h that are one text for fp32 and bf16.  The
 * includer defines:
 *
 * number		the type of activations
 * WINDOWS		1: a row has many vectors and perhaps windows, and four
 *			rows are summed at a time; 0: a row is one vector
 * AHEAD		prefetch this many numbers ahead; 0: do not
 * TABLE, MIX		the name of the table of kernels, and its mix
 * MADD(r, a, b, c)	r = a b + c, in bf16 rounded once if the set can
 * CHANNELS(c, f, ...)	call f(..., k, two) for all channels k of a window, with
 *			two vectors of them, or with one if two is 0
 *
 * It defines norm_load, norm_store and norm_factor before, norm_stats after.
 */
static void norm_stats(const void *plane, size_t rows, int c, float *mean,
    float *m2);

/* Return AHEAD in rows, rounded up to a multiple of four. */
INLINE size_t
norm_rows_ahead(size_t row)
{
	return (AHEAD + 4 * row - 1) / (4 * row) * 4;
}

/*
 * Prefetch line ${i} of the lines that four rows of 32 channels from ${at}
 * take.
 */
INLINE void
norm_prefetch(const number *rows, int at, int i)
{
	if (AHEAD > 0)
		__builtin_prefetch(rows + 4 * at + 2 * L * i);
}

/* ---- pieces ---- */

typedef double dvec __attribute__((vector_size(64), aligned(8)));
typedef float fvec __attribute__((vector_size(32), aligned(4)));

#define DAT(p, i) (*(dvec *)((p) + (i)))
#define WIDE(p, i) __builtin_convertvector(*(const fvec *)((p) + (i)), dvec)

/* Return the rows of piece ${i} of an image. */
INLINE double
norm_rows_in(const struct norm_pieces *s, int i)
{
	return (double)(i == s->cuts - 1 ? s->last : s->rows);
}

/*
 * mean = sum of rows_i mean_i / all, m2 = sum of (m2_i + rows_i (mean_i -
 * mean)^2)
 *
 * Without windows, a piece is an image, and mean = sum of mean_i / images.
 */
static void
norm_join(const struct norm_pieces *s, int at, double *mean, double *m2)
{
	double all = 1 / ((double)s->images *
	    ((double)s->rows * (s->cuts - 1) + (double)s->last));

	for (int k = 0; k < L; k += 8) {
		const float *p = s->p + at + k, *q = s->q + at + k;
		dvec m = { 0 }, v = { 0 }, d;

		for (int i = 0; i < s->images; i++)
			for (int j = 0; j < s->cuts; j++, p += s->row)
				m += (WINDOWS ? norm_rows_in(s, j) : 1) *
				    WIDE(p, 0);
		m = WINDOWS ? m * all : m / (double)s->images;
		p = s->p + at + k;
		for (int i = 0; i < s->images; i++)
			for (int j = 0; j < s->cuts; j++) {
				d = WIDE(p, 0) - m;
				v += WIDE(q, 0) + norm_rows_in(s, j) * d * d;
				p += s->row;
				q += s->row;
			}
		DAT(mean, k) = m;
		DAT(m2, k) = v;
	}
}

/* p = sum of p_i, q = sum of q_i, over the pieces i */
static void
norm_add(const struct norm_pieces *s, int at, double *p, double *q)
{
	size_t end = (size_t)s->images * (size_t)s->cuts * s->row;

	for (int k = 0; k < L; k += 8) {
		dvec a = { 0 }, b = { 0 };

		for (size_t i = (size_t)(at + k); i < end; i += s->row) {
			a += WIDE(s->p, i);
			b += WIDE(s->q, i);
		}
		DAT(p, k) = a;
		DAT(q, k) = b;
	}
}

/*
 * Copy the vector at ${*p} to ${v}, if a row is one vector, and point ${*p} at
 * it.  No store changes it then, so it stays in a register.
 */
INLINE void
norm_hold(const float **p, vec *v)
{
	if (!WINDOWS && *p != NULL) {
		*v = CAT(*p, 0);
		*p = (const float *)v;
	}
}

/* ---- forward ---- */

/*
 * y = x a + b + res; with relu, keep y where it is above 0 or NaN, and store
 * the mask
 */
INLINE void
norm_apply_at(const struct cpu_norm_apply *p, size_t r, int res, int relu,
    int mask, int k, int two)
{
	const number *x = (const number *)p->x + r * p->row + k;
	vec v[2], w[2];

	norm_load(v, x, two);
	if (res) {
		const number *y = (const number *)p->res + r * p->res_row + k;

		norm_load(w, y, two);
		if (AHEAD > 0) {
			__builtin_prefetch(x + AHEAD);
			__builtin_prefetch(y + AHEAD);
		}
	}
	for (int j = 0; j <= two; j++) {
		MADD(v[j], v[j], CAT(p->a, k + j * L), CAT(p->b, k + j * L));
		if (res)
			v[j] += w[j];
		if (relu) {
			unsigned open = norm_gate(&v[j], &v[j]);

			if (mask)
				p->mask[(r * p->row + (size_t)k) / L +
				    (size_t)j] = (uint16_t)open;
		}
	}
	norm_store((number *)p->y + r * p->y_row + k, v, two, 1, p->stream);
	if (p->copy != NULL)
		norm_store((number *)p->copy + r * p->row + k, v, two, 1,
		    p->stream);
}

INLINE void
norm_apply_all(const struct cpu_norm_apply *w, int n, size_t rows, int res,
    int relu, int mask)
{
	struct cpu_norm_apply one = *w;
	vec a, b;

	norm_hold(&one.a, &a);
	norm_hold(&one.b, &b);
	one.stream |= !WINDOWS;
	for (size_t r = 0; r < rows; r++)
		for (int i = 0; i < (WINDOWS ? n : 1); i++) {
			const struct cpu_norm_apply p = WINDOWS ? w[i] : one;

			CHANNELS(p.c, norm_apply_at, &p, r, res, relu, mask);
		}
}

/* Compile each case with constants, so that its loop has no branches. */
static void
norm_apply(const struct cpu_norm_apply *w, int n, size_t rows)
{
	if (w->res == NULL && w->relu && w->mask != NULL)
		norm_apply_all(w, n, rows, 0, 1, 1);
	else if (w->res == NULL && w->relu)
		norm_apply_all(w, n, rows, 0, 1, 0);
	else if (w->res == NULL)
		norm_apply_all(w, n, rows, 0, 0, 0);
	else if (w->relu && w->mask != NULL)
		norm_apply_all(w, n, rows, 1, 1, 1);
	else if (w->relu)
		norm_apply_all(w, n, rows, 1, 1, 0);
	else
		norm_apply_all(w, n, rows, 1, 0, 0);
	STREAMED();
}

/* ---- backward ---- */

/* How the gradient of the relu is decided: not at all, by the mask, or by x. */
enum norm_relu { OPEN, BY_MASK, BY_X };

/*
 * d = (dy + more) * (relu is open), for channels ${k} of row ${r}; and x there
 */
INLINE void
norm_gradient_at(vec d[2], vec x[2], const struct norm_gradient *g, size_t r,
    int more, enum norm_relu relu, int k, int two)
{
	int at = g->first + k;
	size_t i = r * g->row + (size_t)at;
	vec e[2] = { { 0 }, { 0 } };

	norm_load(x, (const number *)g->x + r * g->x_row + at, two);
	norm_load(d, (const number *)g->dy + r * g->dy_row + at, two);
	if (more)
		norm_load(e, (const number *)g->more + r * g->more_row + k,
		    two);
	for (int j = 0; j <= two; j++) {
		if (more)
			d[j] += e[j];
		if (relu == BY_MASK) {
			norm_keep(&d[j], g->mask[i / L + (size_t)j]);
		} else if (relu == BY_X) {
			vec y;

			MADD(y, x[j], CAT(g->a, at + j * L),
			    CAT(g->b, at + j * L));
			norm_gate(&d[j], &y);
		}
	}
}

/*
 * Call f(..., more, relu) with constants, so that each case is compiled without
 * branches.
 */
#define BY_RELU(f, more, ...) do { \
	if (!w->relu) \
		f(__VA_ARGS__, more, OPEN); \
	else if (w->mask != NULL) \
		f(__VA_ARGS__, more, BY_MASK); \
	else \
		f(__VA_ARGS__, more, BY_X); \
} while (0)
#define BY_PARTS(f, ...) do { \
	if (w->more != NULL) \
		BY_RELU(f, 1, __VA_ARGS__); \
	else \
		BY_RELU(f, 0, __VA_ARGS__); \
} while (0)

enum norm_result { NOTHING, WRITE, ADD };

struct norm_sums_out {
	const float *mean;
	float *db, *ds;
	number *res;
	int stream;
	size_t prefetch;
};

/*
 * db += sum of v, ds += sum of v (x - mean), res (+)= v, for ${rows} rows
 *
 * Two running sums of each hide the latency of an addition: those of two
 * vectors or, if a row is one vector, those of even and odd rows.
 */
INLINE void
norm_sums_at(const struct norm_gradient *g, const struct norm_sums_out *s,
    size_t r, size_t rows, enum norm_result to, int more, enum norm_relu relu,
    int k, int two)
{
	vec d[2], x[2], w[2], db[2] = { { 0 }, { 0 } },
	    ds[2] = { { 0 }, { 0 } };
	int at = g->first + k;

	for (size_t i = 0; i < rows; i++) {
		number *res = s->res + (r + i) * g->row + at;

		norm_gradient_at(d, x, g, r + i, more, relu, k, two);
		if (WINDOWS && rows == 4) {
			norm_prefetch((const number *)g->x + (r + s->prefetch) *
			    g->x_row, at, (int)i);
			norm_prefetch((const number *)g->dy +
			    (r + s->prefetch) * g->dy_row, at, (int)i);
			if (more)
				__builtin_prefetch((const number *)g->more +
				    (r + i + s->prefetch) * g->more_row + k);
		}
		if (to == ADD)
			norm_load(w, res, two);
		for (int j = 0; j <= two; j++) {
			const vec e = x[j] - CAT(s->mean, at + j * L);
			size_t sum = WINDOWS ? (size_t)j : i % 2;

			db[sum] += d[j];
			MADD(ds[sum], d[j], e, ds[sum]);
			if (to == ADD)
				d[j] += w[j];
		}
		if (to != NOTHING)
			norm_store(res, d, two, 0, to == WRITE && s->stream);
	}
	if (!WINDOWS) {
		db[0] += db[1];
		ds[0] += ds[1];
	}
	for (int j = 0; j <= two; j++) {
		AT(s->db, at + j * L) += db[j];
		AT(s->ds, at + j * L) += ds[j];
	}
}

INLINE void
norm_sums_rows(const struct norm_gradient *w, int n,
    const struct norm_sums_out *s, size_t r, size_t rows, enum norm_result to,
    int more, enum norm_relu relu)
{
	struct norm_sums_out out = *s;
	vec v[3];

	norm_hold(&out.mean, &v[0]);
	out.stream |= !WINDOWS;
	for (int i = 0; i < (WINDOWS ? n : 1); i++) {
		struct norm_gradient g = w[i];

		norm_hold(&g.a, &v[1]);
		norm_hold(&g.b, &v[2]);
		CHANNELS(g.c, norm_sums_at, &g, &out, r, rows, to, more, relu);
	}
}

INLINE void
norm_sums_all(const struct norm_gradient *w, int n,
    const struct norm_sums_out *s, size_t rows, enum norm_result to, int more,
    enum norm_relu relu)
{
	size_t r = 0;

	if (!WINDOWS) {
		norm_sums_rows(w, n, s, 0, rows, to, more, relu);
		return;
	}
	for (; r + 4 <= rows; r += 4)
		norm_sums_rows(w, n, s, r, 4, to, more, relu);
	for (; r < rows; r++)
		norm_sums_rows(w, n, s, r, 1, to, more, relu);
}

/* db += sum of v, ds += sum of v (x - mean), res (+)= v */
static void
norm_sums(const struct norm_gradient *w, int n, size_t rows, const float *mean,
    float *db, float *ds, void *res, int more, int stream)
{
	const struct norm_sums_out s = { mean, db, ds, res, stream,
		norm_rows_ahead(w->row) };

	if (res == NULL)
		BY_PARTS(norm_sums_all, w, n, &s, rows, NOTHING);
	else if (more)
		BY_PARTS(norm_sums_all, w, n, &s, rows, ADD);
	else
		BY_PARTS(norm_sums_all, w, n, &s, rows, WRITE);
	STREAMED();
}

struct norm_factors { const float *a, *b, *c; int stream; };

/* dx (+)= v a + x b + c */
INLINE void
norm_back_at(const struct norm_gradient *g, number *dx,
    const struct norm_factors *f, size_t r, enum norm_result to, int more,
    enum norm_relu relu, int k, int two)
{
	vec d[2], x[2], w[2];
	int at = g->first + k;

	dx += r * g->row + (size_t)at;
	norm_gradient_at(d, x, g, r, more, relu, k, two);
	if (to == ADD)
		norm_load(w, dx, two);
	for (int j = 0; j <= two; j++) {
		int c = at + j * L;

		norm_factor(&d[j], &x[j], &CAT(f->a, c), &CAT(f->b, c),
		    &CAT(f->c, c));
		if (to == ADD)
			d[j] += w[j];
	}
	norm_store(dx, d, two, 0, to == WRITE && f->stream);
}

INLINE void
norm_back_all(const struct norm_gradient *w, int n, number *dx,
    const struct norm_factors *factors, size_t rows, enum norm_result to,
    int more, enum norm_relu relu)
{
	struct norm_gradient one = *w;
	struct norm_factors f = *factors;
	vec v[5];

	norm_hold(&one.a, &v[0]);
	norm_hold(&one.b, &v[1]);
	norm_hold(&f.a, &v[2]);
	norm_hold(&f.b, &v[3]);
	norm_hold(&f.c, &v[4]);
	f.stream |= !WINDOWS;
	for (size_t r = 0; r < rows; r++)
		for (int i = 0; i < (WINDOWS ? n : 1); i++) {
			const struct norm_gradient g = WINDOWS ? w[i] : one;

			CHANNELS(g.c, norm_back_at, &g, dx, &f, r, to, more,
			    relu);
		}
}

/* dx (+)= v va + x vb + vc */
static void
norm_back(void *dx, const struct norm_gradient *w, int n, size_t rows,
    const float *va, const float *vb, const float *vc, int more, int stream)
{
	const struct norm_factors f = { va, vb, vc, stream };

	if (more)
		BY_PARTS(norm_back_all, w, n, dx, &f, rows, ADD);
	else
		BY_PARTS(norm_back_all, w, n, dx, &f, rows, WRITE);
	STREAMED();
}

const struct norm_kernels ISA_PASTE(TABLE, VT_ISA) = {
	.stats = norm_stats, .join = norm_join, .add = norm_add,
	.apply = norm_apply, .sums = norm_sums, .back = norm_back, .mix = MIX,
};
