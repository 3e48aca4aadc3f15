/*
 * Iteration plans over rows, and the launches of reductions, broadcasts and
 * biases.
 */
#include <assert.h>

#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"

/*
 * Blocks of a sum: four for each of the 132 multiprocessors of an H100 or H200.
 * Two of the four run at once, at 128 registers a thread.  The number is
 * constant because the order of summation depends on it.
 */
enum { BLOCKS = 528 };

/* Adjacent vectors of a row that a block takes at least: 512 bytes. */
enum { ACROSS = 32 };

/*
 * t and w without h are not adjacent, so they need inner_g and inner_m.
 * Otherwise the axes left of the rows are groups, and those right of them are
 * columns.  Without rows, everything is one row of columns if 32 bits suffice.
 */
struct matrix
rows_matrix_of(const struct dims *d, int over)
{
	const size_t size[3] = { (size_t)d->t, (size_t)d->h, (size_t)d->w };
	const int is[3] = { over & OVER_T, over & OVER_H, over & OVER_W };
	struct matrix m = { (size_t)d->n, 1, (size_t)cuda_padded(d->c), 1, 0 };

	if (is[0] && !is[1] && is[2] && size[0] > 1 && size[1] > 1 &&
	    size[2] > 1) {
		m.groups *= size[1];
		m.m = size[0] * size[2];
		m.inner_g = (unsigned)size[1];
		m.inner_m = (unsigned)size[2];
		return m;
	}
	for (int i = 2; i >= 0; i--)
		if (is[i])
			m.m *= size[i];
		else if (m.m == 1)
			m.c *= size[i];
		else
			m.groups *= size[i];
	if (m.m == 1 && m.groups * m.c < (size_t)1 << 31) {
		m.c *= m.groups;
		m.groups = 1;
	}
	return m;
}

struct matrix
rows_of_positions(const struct dims *d)
{
	return (struct matrix){ 1, (size_t)d->n * dims_positions(d),
		(size_t)cuda_padded(d->c), 1, 0 };
}

/* Plan the columns.  The rows are not split yet. */
static struct rows
rows_across(const struct cuda *c, const struct matrix *m)
{
	struct rows r = { .c = (unsigned)m->c, .m = (unsigned)m->m,
		.inner_g = m->inner_g, .inner_m = m->inner_m };
	size_t v = m->c / cuda_lanes(c->type), largest;

	assert(m->c % 8 == 0 && m->c < (size_t)1 << 31 &&
	    m->m < (size_t)1 << 31);
	if (r.inner_g == 1)
		r.inner_m = r.m;
	/* Not more rows at a time than there are, four per thread. */
	largest = THREADS / cuda_min(cuda_pieces(r.m, ROWS),
	    THREADS / cuda_min(v, ACROSS));
	r.tiles = cuda_pieces(v, cuda_min(v, largest));
	r.across = (int)cuda_pieces(v, r.tiles);
	return r;
}

/*
 * Split the rows of a pass without sums.  A thread reads the parameters of its
 * channels once, up to seven vectors.  It gets 32 rows if enough blocks remain,
 * and at least 8.
 */
static struct rows
rows_pass(struct rows r, size_t groups)
{
	unsigned rows = ROWS * (THREADS / (unsigned)r.across), times = 8;

	while (times > 2 && groups * r.tiles * cuda_pieces(r.m, times * rows) <
	    2 * BLOCKS)
		times /= 2;
	r.per = (unsigned)cuda_min(r.m, times * rows);
	r.parts = cuda_pieces(r.m, r.per);
	return r;
}

struct rows
rows_copy(const struct cuda *c, const struct matrix *m)
{
	return rows_pass(rows_across(c, m), m->groups);
}

struct rows
rows_sum(const struct cuda *c, const struct matrix *m)
{
	struct rows r = rows_across(c, m);
	unsigned lanes = THREADS / (unsigned)r.across;
	size_t parts = cuda_min(BLOCKS / cuda_min(BLOCKS, m->groups * r.tiles),
	    cuda_pieces(r.m, ROWS * lanes));

	r.per = cuda_pieces(r.m, parts);
	r.parts = cuda_pieces(r.m, r.per);
	return r;
}

struct divisor
rows_divisor_of(unsigned by)
{
	struct divisor d = { .shift = 31 };

	/* times = 2^shift / by, rounded up.  It is below 2^32, and its rounding
	 * error times a dividend below 2^31 is below 2^shift. */
	while ((uint64_t)1 << (d.shift - 31) < by)
		d.shift++;
	d.times = (uint32_t)((((uint64_t)1 << d.shift) + by - 1) / by);
	return d;
}

unsigned
rows_blocks(const struct rows *r, const struct matrix *m)
{
	assert(m->groups * r->parts * r->tiles < (size_t)1 << 31);
	return (unsigned)(m->groups * r->parts * r->tiles);
}

/* ---- sums ---- */

size_t
rows_sum_scratch(const struct cuda *c, const struct matrix *m)
{
	struct rows r = rows_sum(c, m);

	return m->groups * r.parts * r.c * sizeof(double);
}

void
rows_total_run(struct cuda *c, size_t groups, struct total a)
{
	struct launch k;

	a.tiles = cuda_pieces(a.period, 8);
	k = CUDA_KERNEL(c, GPU_TOTAL, (unsigned)groups * a.tiles, 1, a);
	cuda_reads(&k, a.part, groups * a.entries * a.period *
	    sizeof(double));
	cuda_touches(&k, a.to, groups * a.period * (a.floats ?
	    sizeof(float) : cuda_size(c->type)), a.accumulate);
	cuda_launch(c, &k);
}

void
rows_sum_run(struct cuda *c, const struct sum *s, void *scratch)
{
	const struct matrix *m = &s->matrix;
	size_t bytes = m->groups * m->m * m->c * cuda_size(c->type);
	struct row_sums a = { .rows = rows_sum(c, m), .x = s->x, .y = s->y,
		.to = s->to, .share = s->share, .accumulate = s->accumulate,
		.floats = s->floats };
	unsigned parts = a.rows.parts, columns = s->all ? 1 : a.rows.c;
	struct launch k = CUDA_KERNEL(c, GPU_SUMS, rows_blocks(&a.rows, m), 1,
	    a);

	cuda_reads(&k, s->x, bytes);
	cuda_reads(&k, s->y, bytes);
	if (parts > 1 || s->all)
		cuda_writes(&k, a.part = scratch, rows_sum_scratch(c, m));
	else
		cuda_touches(&k, s->to, m->groups * m->c * (s->floats ?
		    sizeof(float) : cuda_size(c->type)), s->accumulate);
	cuda_launch(c, &k);
	if (a.part != NULL)
		rows_total_run(c, m->groups, (struct total){ .part = scratch,
			.to = s->to, .entries = parts * (a.rows.c / columns),
			.period = columns, .share = s->share,
			.accumulate = s->accumulate, .floats = s->floats });
}

void
rows_broadcast_run(struct cuda *c, const struct matrix *m, struct broadcast a)
{
	size_t size = cuda_size(c->type), bytes = m->groups * m->m * m->c *
	    size;
	struct launch k;

	a.rows = rows_copy(c, m);
	k = CUDA_KERNEL(c, GPU_BROADCAST, rows_blocks(&a.rows, m), 1, a);
	cuda_reads(&k, a.from, bytes);
	cuda_reads(&k, a.by, m->groups * m->c * size);
	cuda_touches(&k, a.to, bytes, a.accumulate);
	cuda_launch(c, &k);
}

/* ---- biases ---- */

void
rows_bias_run(struct cuda *c, void *y, const struct dims *d, const void *bias)
{
	struct matrix m = rows_of_positions(d);
	struct bias a = { .rows = rows_copy(c, &m), .x = y, .bias = bias };
	struct launch k = CUDA_KERNEL(c, GPU_BIAS, rows_blocks(&a.rows, &m), 1,
	    a);

	cuda_reads(&k, bias, m.c * sizeof(float));
	cuda_touches(&k, y, cuda_bytes(c, d), 1);
	cuda_launch(c, &k);
}

size_t
rows_bias_scratch(const struct cuda *c, const struct dims *d)
{
	struct matrix m = rows_of_positions(d);

	return rows_sum_scratch(c, &m);
}

void
rows_bias_gradient(struct cuda *c, void *dbias, const void *dy,
    const struct dims *d, void *scratch)
{
	rows_sum_run(c, &(struct sum){ .matrix = rows_of_positions(d), .x = dy,
		.to = dbias, .share = 1, .floats = 1 }, scratch);
}

/* ---- operators with one input ---- */

struct flow
cuda_flow_of(const struct task *t, int back)
{
	return back ? (struct flow){ t->dy, t->dx[0], &t->out, &t->in[0],
		t->accumulate[0] } : (struct flow){ t->x[0], t->y, &t->in[0],
		&t->out, 0 };
}

void
cuda_flow_launch(struct cuda *c, struct launch *k, const struct flow *f)
{
	cuda_reads(k, f->from, cuda_bytes(c, f->in));
	cuda_touches(k, f->to, cuda_bytes(c, f->out), f->accumulate);
	cuda_launch(c, k);
}
