/*
 * Batch normalisation over a microbatch in bf16, with what is fused with it
 * (backend/cpu/norm.h).  An image is walked in pieces of whole places, whose
 * size is a matter of the shape alone: each piece gives means and squared
 * deviations, which are joined in double, in their order (Chan et al. 1979).
 *
 * A shift's channels are three ranges of each place: rows are made in the
 * cache and copied from there to the frames that they go to.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/half/half.h"
#include "backend/cpu/norm_pass.h"

enum {
	PIECE = 65536,			/* bytes of x: the second cache has
					 * it when it is read again */
	CHUNK = 8192			/* of rows on their way to a shift */
};

/* The open part of a pass: what all pieces share. */
struct pass {
	const struct norm *n;
	struct task *bn;
	const struct dims *d;
	const struct half_kernels *k;
	int again;			/* only what is remade is written */
	int row, images, ranges;
	int cuts;			/* pieces of an image */
	size_t hw, rows;		/* places: of an image, of a piece */
	size_t chunk;			/* and of a chunk */
	float *mean, *rstd;		/* [row] */
	uint16_t *mask;			/* [images][hw][row / 16]; or NULL */
	float *p, *q;			/* [pieces][row] */
	float *scale, *offset;		/* [row]: y = x scale + offset */
	float *a, *b, *c;		/* [row]: dx = v a + x b + c */
	bf16 *work;			/* [threads][chunk][row] */
	struct half_range range[8];
};

static size_t
rows_of(const struct dims *d, size_t bytes)
{
	size_t rows = bytes / ((size_t)half_row(d) * sizeof(bf16));

	rows = rows > 0 ? rows : 1;
	return rows < cpu_places(d) ? rows : cpu_places(d);
}

static int
cuts_of(const struct dims *d)
{
	size_t rows = rows_of(d, PIECE);

	return (int)((cpu_places(d) + rows - 1) / rows);
}

/* Saved: mean and 1 / std of each channel, the mask. */
static size_t
saved(const struct task *t)
{
	const struct norm *n = t->priv;
	const struct dims *d = &t->out;

	return 2 * (size_t)half_row(d) * sizeof(float) + (norm_masks(n) ?
	    (size_t)cpu_images(d) * half_image(d) / 16 * sizeof(uint16_t) : 0);
}

/* Scratch: two rows a piece, five of the pass, and chunks. */
static size_t
scratch(const struct task *t)
{
	const struct dims *d = &t->out;
	size_t row = (size_t)half_row(d), pieces = (size_t)cuts_of(d) *
	    (size_t)cpu_images(d);

	return (2 * pieces + 5) * row * sizeof(float) +
	    (size_t)pool_threads(cpu_of(t)->pool) * rows_of(d, CHUNK) * row *
	    sizeof(bf16);
}

static struct pass
open_pass(struct task *t)
{
	const struct norm *n = t->priv;
	const struct dims *d = &n->bn->out;
	struct pass s = { .n = n, .bn = n->bn, .d = d, .k = half_k(t),
		.row = half_row(d), .images = cpu_images(d),
		.cuts = cuts_of(d), .hw = cpu_places(d),
		.rows = rows_of(d, PIECE), .chunk = rows_of(d, CHUNK) };
	size_t all = (size_t)s.cuts * (size_t)s.images * (size_t)s.row;

	s.mean = t->saved;
	s.rstd = s.mean + s.row;
	s.mask = norm_masks(n) ? (uint16_t *)(s.rstd + s.row) : NULL;
	s.p = t->scratch;
	s.q = s.p + all;
	s.scale = s.q + all;
	s.offset = s.scale + s.row;
	s.a = s.offset + s.row;
	s.b = s.a + s.row;
	s.c = s.b + s.row;
	s.work = (bf16 *)(s.c + s.row);
	if (n->shift != NULL)
		s.ranges = half_ranges(n->shift, s.row, s.range);
	return s;
}

/* Some rows of an image. */
struct part { int image; size_t first, rows; };

static struct part
piece(const struct pass *s, int i)
{
	struct part p = { i / s->cuts, (size_t)(i % s->cuts) * s->rows,
		s->rows };

	if (p.first + p.rows > s->hw)
		p.rows = s->hw - p.first;
	return p;
}

/* The next part of ${whole} that is a chunk; 0: no more. */
static int
next_chunk(const struct pass *s, const struct part *whole, struct part *p)
{
	size_t end = whole->first + whole->rows;

	if (p->rows == 0)
		*p = (struct part){ whole->image, whole->first, 0 };
	p->first += p->rows;
	p->rows = p->first + s->chunk < end ? s->chunk : end - p->first;
	return p->rows > 0;
}

static bf16 *
at(const struct pass *s, const void *x, const struct part *p)
{
	return half_at(s->d, x, p->image, p->first);
}

static uint16_t *
mask_at(const struct pass *s, const struct part *p)
{
	return s->mask == NULL ? NULL : s->mask + ((size_t)p->image * s->hw +
	    p->first) * (size_t)(s->row / 16);
}

static bf16 *
work_of(const struct pass *s, int thread)
{
	return s->work + (size_t)thread * s->chunk * (size_t)s->row;
}

/* ---- forward ---- */

static void
stats_part(int i, int thread, void *arg)
{
	const struct pass *s = arg;
	struct part p = piece(s, i);
	size_t to = (size_t)i * (size_t)s->row;

	(void)thread;
	s->k->stats(at(s, s->bn->x[0], &p), p.rows, s->row, s->p + to,
	    s->q + to);
}

/* Join the pieces of 16 channels. */
static void
join_part(int block, int thread, void *arg)
{
	const struct pass *s = arg;
	double count = (double)s->hw * s->images;
	int pieces = s->cuts * s->images, end = (block + 1) * 16;

	(void)thread;
	for (int c = block * 16; c < end && c < s->d->c; c++) {
		double mean = 0, m2 = 0;

		for (int i = 0; i < pieces; i++)
			mean += (double)piece(s, i).rows *
			    s->p[(size_t)i * s->row + c];
		mean /= count;
		for (int i = 0; i < pieces; i++) {
			double d = s->p[(size_t)i * s->row + c] - mean;

			m2 += s->q[(size_t)i * s->row + c] +
			    (double)piece(s, i).rows * d * d;
		}
		s->mean[c] = (float)mean;
		s->rstd[c] = (float)(1 / sqrt(m2 / count + s->bn->op->eps));
		((float *)s->bn->dw[2])[c] = (float)mean;
		((float *)s->bn->dw[3])[c] =
		    (float)(m2 / (count > 1 ? count - 1 : 1));
	}
	for (int c = s->d->c > block * 16 ? s->d->c : block * 16; c < end; c++)
		s->mean[c] = s->rstd[c] = 0;
}

/* y = x scale + offset, from the batch's statistics or the running ones. */
static void
set_scale(struct pass *s)
{
	struct task *bn = s->bn;
	const float *gamma = bn->w[0], *beta = bn->w[1];

	memset(s->scale, 0, 2 * (size_t)s->row * sizeof(float));
	for (int c = 0; c < s->d->c; c++) {
		float mean = bn->training ? s->mean[c] :
		    ((const float *)bn->w[2])[c];
		float rstd = bn->training ? s->rstd[c] : (float)
		    (1 / sqrt(((const float *)bn->w[3])[c] + bn->op->eps));

		s->scale[c] = gamma[c] * rstd;
		s->offset[c] = beta[c] - mean * s->scale[c];
	}
}

/* Which frame of the clip the rows of ${p} are. */
static int
frame_of(const struct pass *s, const struct part *p)
{
	return p->image % s->d->t;
}

/* Rows ${y} to where the shifted activation has them. */
static void
scatter(const struct pass *s, const struct part *p, const bf16 *y)
{
	int t = s->d->t;

	for (int k = 0; k < s->ranges; k++) {
		const struct half_range *r = &s->range[k];
		int frame = frame_of(s, p) - r->by;
		int lost = frame < 0 || frame >= t;
		/* What the shift drops leaves a range at the clip's other end
		 * that nothing fills. */
		struct part to = { p->image - r->by + (lost ? r->by * t : 0),
			p->first, p->rows };
		size_t n = (size_t)(r->to - r->from) * sizeof(*y);

		for (size_t i = 0; i < p->rows; i++) {
			bf16 *place = at(s, s->n->shift->y, &to) +
			    i * (size_t)s->row + r->from;

			if (lost)
				memset(place, 0, n);
			else
				memcpy(place, y + i * (size_t)s->row + r->from,
				    n);
		}
	}
}

static void
apply_rows(const struct pass *s, const struct part *p, bf16 *y, int stream)
{
	const struct norm *n = s->n;
	struct half_apply a = { .x = at(s, s->bn->x[0], p),
		.res = n->add == NULL ? NULL : at(s, n->add->x[n->res], p),
		.a = s->scale, .b = s->offset, .relu = n->relu != NULL,
		.mask = s->again ? NULL : mask_at(s, p), .y = y,
		.stream = stream };

	s->k->apply(&a, p->rows, s->row);
}

static void
apply_part(int i, int thread, void *arg)
{
	const struct pass *s = arg;
	const struct norm *n = s->n;
	struct part whole = piece(s, i), p = { 0 };

	if (n->shift == NULL || !norm_writes(n->shift, s->again)) {
		apply_rows(s, &whole, at(s, n->tail->y, &whole), 1);
		return;
	}
	while (next_chunk(s, &whole, &p)) {
		bf16 *y = norm_writes(n->tail, s->again) ?
		    at(s, n->tail->y, &p) : work_of(s, thread);

		apply_rows(s, &p, y, 0);
		scatter(s, &p, y);
	}
}

static void
forward(struct task *t)
{
	struct pass s = open_pass(t);
	int pieces = s.images * s.cuts;

	if (s.bn->training) {
		cpu_run(t, pieces, stats_part, &s);
		cpu_run(t, s.row / 16, join_part, &s);
	}
	set_scale(&s);
	cpu_run(t, pieces, apply_part, &s);
}

static void
remake(struct task *t)
{
	struct pass s = open_pass(t);

	s.again = 1;
	set_scale(&s);
	cpu_run(t, s.images * s.cuts, apply_part, &s);
}

/* ---- backward ---- */

/* The gradient of rows ${p} out of the shifted one's. */
static void
gather(const struct pass *s, const struct part *p, bf16 *to)
{
	for (int k = 0; k < s->ranges; k++) {
		const struct half_range *r = &s->range[k];
		int frame = frame_of(s, p) - r->by;
		struct part from = { p->image - r->by, p->first, p->rows };
		size_t n = (size_t)(r->to - r->from) * sizeof(*to);

		for (size_t i = 0; i < p->rows; i++) {
			bf16 *place = to + i * (size_t)s->row + r->from;

			if (frame < 0 || frame >= s->d->t)
				memset(place, 0, n);
			else
				memcpy(place, at(s, s->n->shift->dy, &from) +
				    i * (size_t)s->row + r->from, n);
		}
	}
}

/* What comes to rows ${p}: at most a chunk, if there is a shift. */
static struct half_gradient
gradient_of(const struct pass *s, const struct part *p, int thread)
{
	const struct norm *n = s->n;
	struct half_gradient g = { .relu = n->relu != NULL,
		.mask = mask_at(s, p), .x = at(s, s->bn->x[0], p),
		.a = s->scale, .b = s->offset };

	if (n->tail->dy != NULL)
		g.dy = at(s, n->tail->dy, p);
	if (n->shift != NULL && n->shift->dy != NULL) {
		gather(s, p, work_of(s, thread));
		g.more = work_of(s, thread);
	}
	if (g.dy == NULL) {
		g.dy = g.more;
		g.more = NULL;
	}
	return g;
}

/*
 * The shortcut's gradient is what comes through the relu; once it is stored,
 * it is what the second pass begins with, unless it was added to another.
 */
static bf16 *
shortcut_gradient(const struct pass *s, const struct part *p)
{
	const struct norm *n = s->n;

	return n->add == NULL || n->add->dx[n->res] == NULL ? NULL :
	    at(s, n->add->dx[n->res], p);
}

static void
sums_part(int i, int thread, void *arg)
{
	const struct pass *s = arg;
	struct part whole = piece(s, i), p = { 0 };
	size_t to = (size_t)i * (size_t)s->row;

	memset(s->p + to, 0, (size_t)s->row * sizeof(float));
	memset(s->q + to, 0, (size_t)s->row * sizeof(float));
	while (next_chunk(s, &whole, &p)) {
		struct half_gradient g = gradient_of(s, &p, thread);

		s->k->sums(&g, p.rows, s->row, s->mean, s->p + to, s->q + to,
		    shortcut_gradient(s, &p), s->n->add != NULL &&
		    s->n->add->accumulate[s->n->res]);
	}
}

/*
 * With xh = (x - mean) rstd:  dx = gamma rstd (v - db / n - xh ds / n)
 * = a v + b x + c, where ds = rstd sum v (x - mean).
 */
static void
join_sums_part(int block, int thread, void *arg)
{
	const struct pass *s = arg;
	struct task *bn = s->bn;
	double count = (double)s->hw * s->images;
	int pieces = s->cuts * s->images, end = (block + 1) * 16;

	(void)thread;
	for (int c = block * 16; c < end && c < s->d->c; c++) {
		double db = 0, ds = 0, a;

		for (int i = 0; i < pieces; i++) {
			db += s->p[(size_t)i * s->row + c];
			ds += s->q[(size_t)i * s->row + c];
		}
		ds *= s->rstd[c];
		((float *)bn->dw[0])[c] = (float)ds;
		((float *)bn->dw[1])[c] = (float)db;
		a = ((const float *)bn->w[0])[c] * (double)s->rstd[c];
		s->a[c] = (float)a;
		s->b[c] = (float)(-a * s->rstd[c] * ds / count);
		s->c[c] = (float)(a * (s->mean[c] * s->rstd[c] * ds - db) /
		    count);
	}
}

static void
back_part(int i, int thread, void *arg)
{
	const struct pass *s = arg;
	const struct norm *n = s->n;
	struct part whole = piece(s, i), p = { 0 };

	while (next_chunk(s, &whole, &p)) {
		const bf16 *v = shortcut_gradient(s, &p);
		struct half_gradient g;

		if (v != NULL && !n->add->accumulate[n->res])
			g = (struct half_gradient){ .dy = v,
				.x = at(s, s->bn->x[0], &p) };
		else
			g = gradient_of(s, &p, thread);
		s->k->back(at(s, s->bn->dx[0], &p), &g, p.rows, s->row, s->a,
		    s->b, s->c, s->bn->accumulate[0]);
	}
}

static void
backward(struct task *t)
{
	struct pass s = open_pass(t);
	int pieces = s.images * s.cuts;

	set_scale(&s);
	memset(s.a, 0, 3 * (size_t)s.row * sizeof(float));
	cpu_run(t, pieces, sums_part, &s);
	cpu_run(t, s.row / 16, join_sums_part, &s);
	if (s.bn->dx[0] != NULL)
		cpu_run(t, pieces, back_part, &s);
}

/* ---- a task ---- */

static int
prepare(struct task *t)
{
	if (!half_is(&t->out)) {
		t->impl = &half_widened;
		return t->impl->prepare(t);
	}
	return norm_prepare(t);
}

const struct op_impl half_norm = {
	.reads = READS_X, .prepare = prepare, .release = norm_release,
	.saved = saved, .scratch = scratch, .forward = forward,
	.remake = remake, .backward = backward, .describe = norm_describe,
};
