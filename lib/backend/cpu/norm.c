/*
 * The operator bn in fp32 and bf16, and the operators fused with it (norm.h):
 *
 *	y = relu(gamma (x - mean) / sqrt(var + eps) + beta + shortcut)
 *
 * The shift of y is fused too.  Forward makes two passes over the pieces, for
 * the statistics and for y; backward makes two, for the sums and for dx.  The
 * size of a piece depends on the shape alone.  The last pass goes backwards: it
 * begins where the previous one ended, with rows that are still in the cache.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/norm_pass.h"
#include "backend/peers.h"
#include "base/mem.h"

/* ---- both directions ---- */

/*
 * Return 1 if one thread should do all of a pass for a block of channels: its
 * pieces are then still in the cache when it reads them again.  With few blocks
 * per thread, each round over the pieces is a parallel loop of its own.  This
 * also holds with peers, which exchange the sums of all blocks at once.  The
 * sums are the same in both cases.
 */
static int
norm_by_blocks(const struct task *t, const struct norm_pass *s)
{
	int threads = pool_threads(cpu_of(t)->pool);

	return !s->half && !norm_is_synced(s->bn) &&
	    (s->blocks % threads == 0 || s->blocks >= 4 * threads);
}

/*
 * A job: part ${i} of pieces, vectors of channels or blocks, on thread number
 * ${thread}.
 */
typedef void norm_part(const struct norm_pass *s, int i, int thread);

struct norm_job { const struct norm_pass *s; norm_part *part; };

static void
norm_job_part(int i, int thread, void *arg)
{
	const struct norm_job *j = arg;

	j->part(j->s, i, thread);
}

/*
 * Run ${part} for ${n} pieces or vectors of channels: for all on all threads if
 * ${b} is -1, otherwise for those of block ${b} on thread number ${thread}.
 */
static void
norm_run(const struct norm_pass *s, int b, int thread, int n, norm_part *part)
{
	struct norm_job j = { s, part };

	if (b < 0)
		cpu_run(s->bn, n, norm_job_part, &j);
	else
		for (int i = b; i < n; i += s->blocks)
			part(s, i, thread);
}

/* Run the phases of a pass, on one thread for each block or for all blocks. */
static void
norm_run_phases(struct task *t, int recompute, norm_part *phases)
{
	struct norm_pass s = norm_open(t);

	s.recompute = recompute;
	if (norm_by_blocks(t, &s))
		norm_run(&s, -1, 0, s.blocks, phases);
	else
		phases(&s, -1, 0);
}

/* ---- forward ---- */

static void
norm_stats_part(const struct norm_pass *s, int i, int thread)
{
	struct norm_rows p = norm_piece(s, i);

	(void)thread;
	s->k->stats(norm_rows_at(s, s->bn->x[0], &p), p.rows, s->width,
	    s->p + p.sums, s->q + p.sums);
}

/*
 * Compute rows ${p}: into ${y} unless it is NULL, and into the shifted
 * activation if ${in_place} is not 0 or ${y} is NULL.  A window is channels
 * that are stored together in all activations.  Skip channels that are stored
 * nowhere: those that the shift drops if a pass recomputes it alone, while the
 * unshifted output is still in memory.
 */
static void
norm_apply_rows(const struct norm_pass *s, const struct norm_rows *p, char *y,
    int in_place, int stream)
{
	const struct norm *n = s->n;
	uint16_t *mask = s->recompute ? NULL : norm_mask_at(s, p);
	const char *x = norm_rows_at(s, s->bn->x[0], p);
	struct cpu_norm_apply w[NORM_WINDOWS];
	int count = 0;
	size_t row;

	for (int c = p->from, end; c < p->to; c = end) {
		size_t at = (size_t)(c - p->from);
		struct cpu_norm_apply a = { .row = (size_t)s->width,
			.y_row = (size_t)s->width, .x = x + at * s->size,
			.a = s->scale + c, .b = s->offset + c,
			.relu = n->relu != NULL, .mask = mask == NULL ? NULL :
			mask + at / (size_t)s->lanes, .stream = stream };

		end = p->to;
		if (n->add != NULL)
			a.res = norm_window(s, &s->res, p, c, &a.res_row,
			    &end);
		if (y == NULL)
			a.y = norm_window(s, &s->shifted, p, c, &a.y_row,
			    &end);
		else
			a.y = y + at * s->size;
		if (y != NULL && in_place)
			a.copy = norm_window(s, &s->shifted, p, c, &row, &end);
		a.c = end - c;
		if (a.y != NULL)
			w[count++] = a;
		else
			assert(s->recompute);
	}
	if (count > 0)
		s->k->apply(w, count, p->rows);
}

/*
 * Compute rows ${p} of the shifted activation from the rows of x and of the
 * shortcut that the shift moves there.
 */
static void
norm_apply_moved(const struct norm_pass *s, const struct norm_rows *p,
    int thread)
{
	const struct norm_source x = { .x = s->bn->x[0] };
	size_t row = (size_t)s->width;
	float a[LANES_MAX], b[LANES_MAX], *work = norm_work(s, thread);
	struct cpu_norm_apply w = { .c = s->width, .row = row, .res_row = row,
		.y_row = row, .x = work, .a = a, .b = b,
		.y = norm_rows_at(s, s->n->shift->y, p),
		.relu = s->n->relu != NULL, .stream = s->stream };
	unsigned lanes = norm_gather(s, p, &x, -1, work);

	if (s->n->add != NULL) {
		w.res = work + s->chunk * row;
		norm_gather(s, p, &s->res, -1, work + s->chunk * row);
	}
	for (int c = 0; c < s->width; c++) {
		a[c] = lanes >> c & 1 ? s->scale[p->from + c] : 0;
		b[c] = lanes >> c & 1 ? s->offset[p->from + c] : 0;
	}
	s->k->apply(&w, 1, p->rows);
}

static void
norm_apply_part(const struct norm_pass *s, int i, int thread)
{
	const struct norm *n = s->n;
	struct norm_rows whole = norm_last_piece(s, i), p = { 0 };
	int shift = n->shift != NULL && norm_writes(n->shift, s->recompute);
	int in_place = shift && norm_in_place(s, &whole);
	int moved = shift && !in_place && !s->half;

	while (norm_next_chunk(s, &whole, &p)) {
		char *y = norm_writes(n->tail, s->recompute) ?
		    norm_rows_at(s, n->tail->y, &p) : in_place || moved ?
		    NULL : norm_work(s, thread);

		if (y != NULL || in_place)
			norm_apply_rows(s, &p, y, in_place, s->stream &&
			    (in_place == shift || moved));
		if (moved)
			norm_apply_moved(s, &p, thread);
		else if (shift)
			norm_scatter(s, &p, in_place ? NULL : y);
	}
}

static void
norm_forward_phases(const struct norm_pass *s, int b, int thread)
{
	int vectors = s->row / s->lanes, first = !s->recompute;

	if (first && norm_measures(s->bn)) {
		norm_run(s, b, thread, s->pieces, norm_stats_part);
		norm_run(s, b, thread, vectors, norm_combine_part);
		if (norm_is_synced(s->bn)) {
			peers_sum(s->bn, s->sync);
			norm_run(s, b, thread, vectors, norm_unpack_part);
		}
	} else if (first && s->bn->needs_weight_grad) {
		norm_run(s, b, thread, vectors, norm_running_part);
	}
	norm_run(s, b, thread, vectors, norm_scale_part);
	norm_run(s, b, thread, s->pieces, norm_apply_part);
}

static void
norm_forward(struct task *t)
{
	norm_run_phases(t, 0, norm_forward_phases);
}

static void
norm_recompute(struct task *t)
{
	norm_run_phases(t, 1, norm_forward_phases);
}

/* ---- backward ---- */

/*
 * Set x of the rows ${p}, or zeros if x is no longer in memory.  In that case
 * the relu uses a mask, and x has no other part in the gradient.
 */
static void
norm_input_rows(const struct norm_pass *s, const struct norm_rows *p,
    struct norm_gradient *g)
{
	int there = (task_reads(s->bn) & READS_X) != 0;

	g->x = there ? norm_rows_at(s, s->bn->x[0], p) : s->zeros;
	g->x_row = there ? (size_t)s->width : 0;
}

/*
 * Describe the gradient of the rows ${p} and return the number of windows.
 * Unless the shift is in place, gather its gradient in the buffer of
 * ${thread}.
 *
 * All windows of a bf16 row have both terms, and a missing one is 0.  The one
 * window of an fp32 row has the terms that exist, which preserves the sign of
 * a 0.
 */
static int
norm_gradient_of(const struct norm_pass *s, const struct norm_rows *p,
    int thread, struct norm_gradient w[NORM_WINDOWS])
{
	const struct norm *n = s->n;
	struct norm_source shifted = s->shifted;
	struct norm_gradient g = { .row = (size_t)s->width,
		.relu = n->relu != NULL, .mask = norm_mask_at(s, p),
		.a = s->scale + p->from, .b = s->offset + p->from };
	const char *gathered = NULL;
	int count = 0;

	norm_input_rows(s, p, &g);
	shifted.x = n->shift == NULL ? NULL : n->shift->dy;
	shifted.dropped = NULL;
	if (shifted.x != NULL && !norm_in_place(s, p)) {
		struct norm_source dy = { .x = shifted.x };

		norm_gather(s, p, &dy, 1, norm_work(s, thread));
		gathered = norm_work(s, thread);
	}
	if (n->tail->dy != NULL) {
		g.dy = norm_rows_at(s, n->tail->dy, p);
		g.dy_row = (size_t)s->width;
	} else if (s->half || shifted.x == NULL) {
		g.dy = s->zeros;
	}
	for (int c = p->from, end = p->to; c < p->to; c = end, end = p->to) {
		g.first = c - p->from;
		g.more_row = (size_t)s->width;
		if (gathered != NULL)
			g.more = gathered + (size_t)g.first * s->size;
		else if (shifted.x != NULL)
			g.more = norm_window(s, &shifted, p, c,
			    &g.more_row, &end);
		if (shifted.x != NULL && g.more == NULL && (s->half || g.dy ==
		    NULL)) {
			g.more = s->zeros;
			g.more_row = 0;
		}
		if (g.dy == NULL) {
			g.dy = g.more;
			g.dy_row = g.more_row;
			g.more = NULL;
		}
		g.c = end - c;
		w[count++] = g;
	}
	return count;
}

/*
 * Return the shortcut gradient of the rows ${p}, or NULL if none is wanted.  It
 * is the gradient that passes the relu.  Unless it was added to another
 * gradient, the second pass can read it instead of computing it again.
 */
static void *
norm_shortcut_gradient(const struct norm_pass *s, const struct norm_rows *p)
{
	const struct norm *n = s->n;

	return n->add == NULL || n->add->dx[n->res] == NULL ? NULL :
	    norm_rows_at(s, n->add->dx[n->res], p);
}

static void
norm_sums_part(const struct norm_pass *s, int i, int thread)
{
	struct norm_rows whole = norm_piece(s, i), p = { 0 };
	float *db = s->p + whole.sums, *ds = s->q + whole.sums;
	struct norm_gradient w[NORM_WINDOWS];

	memset(db, 0, (size_t)s->width * sizeof(*db));
	memset(ds, 0, (size_t)s->width * sizeof(*ds));
	while (norm_next_chunk(s, &whole, &p)) {
		int n = norm_gradient_of(s, &p, thread, w);

		s->k->sums(w, n, p.rows, s->mean + p.from, db, ds,
		    norm_shortcut_gradient(s, &p), s->n->add != NULL &&
		    s->n->add->accumulate[s->n->res], s->stream);
	}
}

static void
norm_back_part(const struct norm_pass *s, int i, int thread)
{
	const struct norm *n = s->n;
	struct norm_rows whole = norm_last_piece(s, i), p = { 0 };

	while (norm_next_chunk(s, &whole, &p)) {
		const void *v = norm_shortcut_gradient(s, &p);
		struct norm_gradient w[NORM_WINDOWS] = { { .c = s->width,
			.row = (size_t)s->width, .dy_row = (size_t)s->width,
			.dy = v } };
		int count = 1;

		norm_input_rows(s, &p, w);
		if (v == NULL || n->add->accumulate[n->res])
			count = norm_gradient_of(s, &p, thread, w);
		s->k->back(norm_rows_at(s, s->bn->dx[0], &p), w, count, p.rows,
		    s->a + p.from, s->b + p.from, s->c + p.from,
		    s->bn->accumulate[0], s->stream);
	}
}

/*
 * Return 1 if a pass of sums is needed: for parameter gradients, or because it
 * writes the shortcut gradient.
 */
static int
norm_sums_up(const struct norm_pass *s)
{
	return s->bn->needs_weight_grad || (s->n->add != NULL &&
	    s->n->add->dx[s->n->res] != NULL);
}

static void
norm_backward_phases(const struct norm_pass *s, int b, int thread)
{
	int vectors = s->row / s->lanes;

	norm_run(s, b, thread, vectors, norm_scale_part);
	if (norm_sums_up(s))
		norm_run(s, b, thread, s->pieces, norm_sums_part);
	norm_run(s, b, thread, vectors, norm_factors_part);
	if (norm_is_synced(s->bn)) {
		peers_sum(s->bn, s->sync);
		norm_run(s, b, thread, vectors, norm_unpack_factors_part);
	}
	if (s->bn->dx[0] != NULL)
		norm_run(s, b, thread, s->pieces, norm_back_part);
}

static void
norm_backward(struct task *t)
{
	norm_run_phases(t, 0, norm_backward_phases);
}

/* ---- a task ---- */

static int
norm_prepare(struct task *t)
{
	struct norm *n;

	if (t->priv == NULL) {
		t->priv = n = xcalloc(1, sizeof(*n));
		n->bn = n->tail = t;
	}
	return cpu_blocked(((struct norm *)t->priv)->bn);
}

static int
norm_prepare_bf16(struct task *t)
{
	if (!bf16_is(&t->out)) {
		t->impl = &bf16_fallback;
		return t->impl->prepare(t);
	}
	return norm_prepare(t);
}

static void
norm_describe(const struct task *t, char *text, size_t size)
{
	const struct norm *n = t->priv;

	snprintf(text, size, "one pass%s%s%s", n->shift == NULL ? "" :
	    n->tail->materialized ? ", stored plain and shifted" :
	    ", stored shifted", n->shortcut_home != NULL ? ", shortcut read "
	    "shifted" : "", n->saves_mask ? ", a bit mask" : "");
}

#define NORM(prepares) { \
	.reads = READS_X_DW, .prepare = prepares, .release = norm_release, \
	.saved = norm_saved, .scratch = norm_scratch, \
	.forward = norm_forward, .recompute = norm_recompute, \
	.backward = norm_backward, .describe = norm_describe, \
}

const struct op_impl cpu_bn = NORM(norm_prepare);
const struct op_impl bf16_bn = NORM(norm_prepare_bf16);
