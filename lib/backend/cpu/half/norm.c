/*
 * Batch normalisation over a microbatch in bf16, with what is fused with it
 * (backend/cpu/norm.h).  An image is walked in pieces of whole places, whose
 * size is a matter of the shape alone: each piece gives means and squared
 * deviations, which are joined in double, in their order (Chan et al. 1979).
 * The last pass begins where the one before it has ended: what that has read
 * last is still in the cache.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/half/norm_rows.h"

/* ---- forward ---- */

static void
stats_part(int i, int thread, void *arg)
{
	const struct half_pass *s = arg;
	struct half_rows p = half_piece(s, i);
	size_t to = (size_t)i * (size_t)s->row;

	(void)thread;
	s->k->stats(half_rows_at(s, s->bn->x[0], &p), p.rows, s->row,
	    s->p + to, s->q + to);
}

/* Join the pieces of 16 channels, as they are kept: real ones or none. */
static void
join_part(int block, int thread, void *arg)
{
	const struct half_pass *s = arg;
	double count = (double)s->hw * s->images;
	int pieces = s->cuts * s->images;

	(void)thread;
	for (int c = block * 16; c < block * 16 + 16; c++) {
		size_t at = (size_t)half_channel(s->row, c);
		double mean = 0, m2 = 0;

		if (c >= s->d->c) {
			s->mean[at] = s->rstd[at] = 0;
			continue;
		}
		for (int i = 0; i < pieces; i++)
			mean += (double)half_piece(s, i).rows *
			    s->p[(size_t)i * s->row + at];
		mean /= count;
		for (int i = 0; i < pieces; i++) {
			double d = s->p[(size_t)i * s->row + at] - mean;

			m2 += s->q[(size_t)i * s->row + at] +
			    (double)half_piece(s, i).rows * d * d;
		}
		s->mean[at] = (float)mean;
		s->rstd[at] = (float)(1 / sqrt(m2 / count + s->bn->op->eps));
		((float *)s->bn->dw[2])[c] = (float)mean;
		((float *)s->bn->dw[3])[c] =
		    (float)(m2 / (count > 1 ? count - 1 : 1));
	}
}

/* y = x scale + offset, from the batch's statistics or the running ones. */
static void
set_scale(struct half_pass *s)
{
	struct task *bn = s->bn;
	const float *gamma = bn->w[0], *beta = bn->w[1];

	memset(s->scale, 0, 2 * (size_t)s->row * sizeof(float));
	for (int c = 0; c < s->d->c; c++) {
		int at = half_channel(s->row, c);
		float mean = bn->training ? s->mean[at] :
		    ((const float *)bn->w[2])[c];
		float rstd = bn->training ? s->rstd[at] : (float)
		    (1 / sqrt(((const float *)bn->w[3])[c] + bn->op->eps));

		s->scale[at] = gamma[c] * rstd;
		s->offset[at] = beta[c] - mean * s->scale[at];
	}
}

/*
 * Rows ${p} into ${y}, if that is not NULL, and with ${windows} where the
 * shifted activation has them: window by window of channels that lie together.
 */
static void
apply_rows(const struct half_pass *s, const struct half_rows *p, bf16 *y,
    int windows, int stream)
{
	const struct norm *n = s->n;
	uint16_t *mask = s->again ? NULL : half_mask_at(s, p);
	size_t row;

	for (int c = 0, end; c < s->row; c = end) {
		struct half_apply a = { .row = (size_t)s->row,
			.y_row = (size_t)s->row, .a = s->scale + c,
			.b = s->offset + c, .relu = n->relu != NULL,
			.mask = mask == NULL ? NULL : mask + c / 16,
			.stream = stream };

		end = s->row;
		a.x = half_rows_at(s, s->bn->x[0], p) + c;
		if (n->add != NULL)
			a.res = half_window(s, &s->res, p, c, &a.res_row,
			    &end);
		if (y == NULL)
			a.y = half_window(s, &s->shifted, p, c, &a.y_row,
			    &end);
		else
			a.y = y + c;
		if (y != NULL && windows)
			a.copy = half_window(s, &s->shifted, p, c, &row, &end);
		a.c = end - c;
		s->k->apply(&a, p->rows);
	}
}

static void
apply_part(int i, int thread, void *arg)
{
	const struct half_pass *s = arg;
	const struct norm *n = s->n;
	struct half_rows whole = half_piece(s, s->images * s->cuts - 1 - i);
	struct half_rows p = { 0 };
	int shift = n->shift != NULL && norm_writes(n->shift, s->again);
	int windows = shift && s->windows;

	while (half_next_chunk(s, &whole, &p)) {
		bf16 *y = norm_writes(n->tail, s->again) ?
		    half_rows_at(s, n->tail->y, &p) : windows ? NULL :
		    half_work(s, thread);

		apply_rows(s, &p, y, windows, s->stream && windows == shift);
		if (windows)
			half_clear_ends(s, &p);
		else if (shift)
			half_scatter(s, &p, y);
	}
}

static void
forward(struct task *t)
{
	struct half_pass s = half_norm_open(t);
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
	struct half_pass s = half_norm_open(t);

	s.again = 1;
	set_scale(&s);
	cpu_run(t, s.images * s.cuts, apply_part, &s);
}

/* ---- backward ---- */

/*
 * What comes to channels ${c} to ${*end} of rows ${p}; ${more}: the shift's
 * part, gathered, where it has no windows.
 */
static struct half_gradient
gradient_of(const struct half_pass *s, const struct half_rows *p,
    const bf16 *more, int c, int *end)
{
	const struct norm *n = s->n;
	const uint16_t *mask = half_mask_at(s, p);
	struct half_lies dy = s->shifted;
	struct half_gradient g = { .row = (size_t)s->row,
		.relu = n->relu != NULL, .mask = mask == NULL ? NULL :
		mask + c / 16, .x = half_rows_at(s, s->bn->x[0], p) + c,
		.a = s->scale + c, .b = s->offset + c };

	if (n->tail->dy != NULL)
		g.dy = half_rows_at(s, n->tail->dy, p) + c;
	if (more != NULL) {
		g.more = more + c;
	} else if (n->shift != NULL && n->shift->dy != NULL) {
		dy.x = n->shift->dy;
		dy.side = NULL;
		g.more = half_window(s, &dy, p, c, &g.row, end);
	}
	if (g.dy == NULL) {
		g.dy = g.more;
		g.more = NULL;
	}
	g.c = *end - c;
	return g;
}

/* The shift's part, gathered; NULL: none, or it has windows. */
static const bf16 *
gathered(const struct half_pass *s, const struct half_rows *p, int thread)
{
	if (s->n->shift == NULL || s->windows || s->n->shift->dy == NULL)
		return NULL;
	half_gather(s, p, half_work(s, thread));
	return half_work(s, thread);
}

/*
 * The shortcut's gradient is what comes through the relu; once it is stored,
 * it is what the second pass begins with, unless it was added to another.
 */
static bf16 *
shortcut_gradient(const struct half_pass *s, const struct half_rows *p)
{
	const struct norm *n = s->n;

	return n->add == NULL || n->add->dx[n->res] == NULL ? NULL :
	    half_rows_at(s, n->add->dx[n->res], p);
}

static void
sums_part(int i, int thread, void *arg)
{
	const struct half_pass *s = arg;
	struct half_rows whole = half_piece(s, i), p = { 0 };
	float *db = s->p + (size_t)i * (size_t)s->row;
	float *ds = s->q + (size_t)i * (size_t)s->row;

	memset(db, 0, (size_t)s->row * sizeof(*db));
	memset(ds, 0, (size_t)s->row * sizeof(*ds));
	while (half_next_chunk(s, &whole, &p)) {
		const bf16 *more = gathered(s, &p, thread);
		bf16 *v = shortcut_gradient(s, &p);

		for (int c = 0, end = s->row; c < s->row; c = end, end = s->row) {
			struct half_gradient g = gradient_of(s, &p, more, c,
			    &end);

			s->k->sums(&g, p.rows, s->mean + c, db + c, ds + c,
			    v == NULL ? NULL : v + c, s->n->add != NULL &&
			    s->n->add->accumulate[s->n->res], s->stream);
		}
	}
}

/*
 * With xh = (x - mean) rstd:  dx = gamma rstd (v - db / n - xh ds / n)
 * = a v + b x + c, where ds = rstd sum v (x - mean).
 */
static void
join_sums_part(int block, int thread, void *arg)
{
	const struct half_pass *s = arg;
	struct task *bn = s->bn;
	double count = (double)s->hw * s->images;
	int pieces = s->cuts * s->images, end = (block + 1) * 16;

	(void)thread;
	for (int c = block * 16; c < end && c < s->d->c; c++) {
		size_t at = (size_t)half_channel(s->row, c);
		double db = 0, ds = 0, a;

		for (int i = 0; i < pieces; i++) {
			db += s->p[(size_t)i * s->row + at];
			ds += s->q[(size_t)i * s->row + at];
		}
		ds *= s->rstd[at];
		((float *)bn->dw[0])[c] = (float)ds;
		((float *)bn->dw[1])[c] = (float)db;
		a = ((const float *)bn->w[0])[c] * (double)s->rstd[at];
		s->a[at] = (float)a;
		s->b[at] = (float)(-a * s->rstd[at] * ds / count);
		s->c[at] = (float)(a * (s->mean[at] * s->rstd[at] * ds - db) /
		    count);
	}
}

static void
back_part(int i, int thread, void *arg)
{
	const struct half_pass *s = arg;
	const struct norm *n = s->n;
	struct half_rows whole = half_piece(s, s->images * s->cuts - 1 - i);
	struct half_rows p = { 0 };

	while (half_next_chunk(s, &whole, &p)) {
		const bf16 *v = shortcut_gradient(s, &p), *more = NULL;
		bf16 *dx = half_rows_at(s, s->bn->dx[0], &p);
		int ready = v != NULL && !n->add->accumulate[n->res];

		if (!ready)
			more = gathered(s, &p, thread);
		for (int c = 0, end = s->row; c < s->row; c = end, end = s->row) {
			struct half_gradient g = { .c = s->row,
				.row = (size_t)s->row, .dy = v,
				.x = half_rows_at(s, s->bn->x[0], &p) };

			if (!ready)
				g = gradient_of(s, &p, more, c, &end);
			s->k->back(dx + c, &g, p.rows, s->a + c, s->b + c,
			    s->c + c, s->bn->accumulate[0], s->stream);
		}
	}
}

static void
backward(struct task *t)
{
	struct half_pass s = half_norm_open(t);
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
	.saved = half_norm_saved, .scratch = half_norm_scratch,
	.forward = forward, .remake = remake, .backward = backward,
	.describe = norm_describe,
};
