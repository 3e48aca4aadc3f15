/*
 * The operator bn in bf16, and the operators fused with it
 * (backend/cpu/norm.h):
 *
 *	y = relu(gamma (x - mean) / sqrt(var + eps) + beta + shortcut)
 *
 * An image is split into pieces of whole positions, whose size depends on the
 * shape alone.  Each piece gives means and squared deviations, which are
 * combined in double, in their order (Chan et al. 1979).  The last pass goes
 * backwards: it begins where the previous one ended, with rows that are still
 * in the cache.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "backend/cpu/bf16/norm_rows.h"
#include "backend/cpu/norm_pass.h"
#include "backend/peers.h"

/* ---- forward ---- */

static void
bf16_norm_stats_part(int i, int thread, void *arg)
{
	const struct bf16_pass *s = arg;
	struct bf16_rows p = bf16_piece(s, i);
	size_t to = (size_t)i * (size_t)s->row;

	(void)thread;
	s->k->stats(bf16_rows_at(s, s->bn->x[0], &p), p.rows, s->row,
	    s->p + to, s->q + to);
}

/* Describe the sums of all pieces. */
static struct bf16_pieces
bf16_norm_pieces_of(const struct bf16_pass *s)
{
	return (struct bf16_pieces){ s->p, s->q, (size_t)s->row, s->images,
		s->cuts, s->rows, bf16_piece(s, s->cuts - 1).rows };
}

/*
 * Store the statistics of channel ${c}, at index ${at} in storage order, over
 * ${count} values.
 */
static void
bf16_norm_set_statistics(const struct bf16_pass *s, int c, int at, double count,
    double mean, double m2)
{
	s->mean[at] = (float)mean;
	s->rstd[at] = (float)(1 / sqrt(m2 / count + s->bn->op->bn.eps));
	((float *)s->bn->dw[2])[c] = (float)mean;
	((float *)s->bn->dw[3])[c] =
	    (float)(m2 / (count > 1 ? count - 1 : 1));
	if (s->bn->op->nparam > 4)
		norm_between(s->bn, c, mean);
}

/* Combine the pieces for 16 channels in storage order; padding gets 0. */
static void
bf16_norm_join_part(int block, int thread, void *arg)
{
	const struct bf16_pass *s = arg;
	const struct bf16_pieces pieces = bf16_norm_pieces_of(s);
	double count = (double)s->hw * s->images, mean[16], m2[16];

	(void)thread;
	s->k->join(&pieces, block * 16, mean, m2);
	for (int i = 0, at = block * 16; i < 16; i++, at++) {
		int c = bf16_channel_of(s->row, at);

		if (c >= s->d->c) {
			s->mean[at] = s->rstd[at] = 0;
			continue;
		}
		if (s->bn->peers != NULL)
			peers_pack(s->sync, (size_t)s->d->c, (size_t)c, count,
			    mean[i], m2[i]);
		else
			bf16_norm_set_statistics(s, c, at, count, mean[i],
			    m2[i]);
	}
}

/* Sum the statistics over all peers. */
static void
bf16_norm_unpack_statistics(struct bf16_pass *s)
{
	double count = peers_count(s->bn, (double)s->hw * s->images), mean, m2;

	peers_sum(s->bn, s->sync);
	for (int c = 0; c < s->d->c; c++) {
		peers_unpack(s->sync, (size_t)s->d->c, (size_t)c, count, &mean,
		    &m2);
		bf16_norm_set_statistics(s, c, bf16_channel(s->row, c), count,
		    mean, m2);
	}
}

/* Take the running statistics instead, if they are fixed. */
static void
bf16_norm_running_statistics(const struct bf16_pass *s)
{
	const float *mean = s->bn->w[2], *var = s->bn->w[3];

	memset(s->mean, 0, (size_t)s->row * sizeof(*s->mean));
	memset(s->rstd, 0, (size_t)s->row * sizeof(*s->rstd));
	for (int c = 0; c < s->d->c; c++) {
		int at = bf16_channel(s->row, c);

		s->mean[at] = ((float *)s->bn->dw[2])[c] = mean[c];
		s->rstd[at] = (float)(1 / sqrt(var[c] + s->bn->op->bn.eps));
		((float *)s->bn->dw[3])[c] = var[c];
	}
}

/* y = gamma (x - mean) rstd + beta = x scale + offset */
static void
bf16_norm_set_scale(struct bf16_pass *s)
{
	struct task *bn = s->bn;
	const float *gamma = bn->w[0], *beta = bn->w[1];

	memset(s->scale, 0, 2 * (size_t)s->row * sizeof(float));
	for (int c = 0; c < s->d->c; c++) {
		int at = bf16_channel(s->row, c);
		float mean = bn->needs_weight_grad ? s->mean[at] :
		    ((const float *)bn->w[2])[c];
		float rstd = bn->needs_weight_grad ? s->rstd[at] : (float)
		    (1 / sqrt(((const float *)bn->w[3])[c] + bn->op->bn.eps));

		s->scale[at] = gamma[c] * rstd;
		s->offset[at] = beta[c] - mean * s->scale[at];
	}
}

/*
 * Compute rows ${p}: into ${y} unless it is NULL, and into the shifted
 * activation if ${windows} is not 0 or ${y} is NULL.  A window is channels that
 * are stored together in all activations.  Skip channels that are stored
 * nowhere: those that the shift drops if a pass recomputes it alone, while the
 * unshifted output is still in memory.
 */
static void
bf16_norm_apply_rows(const struct bf16_pass *s, const struct bf16_rows *p,
    bf16 *y, int windows, int stream)
{
	const struct norm *n = s->n;
	uint16_t *mask = s->recompute ? NULL : bf16_mask_at(s, p);
	struct bf16_apply w[HALF_WINDOWS];
	int count = 0;
	size_t row;

	for (int c = 0, end; c < s->row; c = end) {
		struct bf16_apply a = { .row = (size_t)s->row,
			.y_row = (size_t)s->row, .a = s->scale + c,
			.b = s->offset + c, .relu = n->relu != NULL,
			.mask = mask == NULL ? NULL : mask + c / 16,
			.stream = stream };

		end = s->row;
		a.x = bf16_rows_at(s, s->bn->x[0], p) + c;
		if (n->add != NULL)
			a.res = bf16_window(s, &s->res, p, c, &a.res_row,
			    &end);
		if (y == NULL)
			a.y = bf16_window(s, &s->shifted, p, c, &a.y_row,
			    &end);
		else
			a.y = y + c;
		if (y != NULL && windows)
			a.copy = bf16_window(s, &s->shifted, p, c, &row, &end);
		a.c = end - c;
		if (a.y != NULL)
			w[count++] = a;
		else
			assert(s->recompute);
	}
	if (count > 0)
		s->k->apply(w, count, p->rows);
}

static void
bf16_norm_apply_part(int i, int thread, void *arg)
{
	const struct bf16_pass *s = arg;
	const struct norm *n = s->n;
	struct bf16_rows whole = bf16_piece(s, s->images * s->cuts - 1 - i);
	struct bf16_rows p = { 0 };
	int shift = n->shift != NULL && norm_writes(n->shift, s->recompute);
	int windows = shift && s->windows;

	while (bf16_next_chunk(s, &whole, &p)) {
		bf16 *y = norm_writes(n->tail, s->recompute) ?
		    bf16_rows_at(s, n->tail->y, &p) : windows ? NULL :
		    bf16_work(s, thread);

		bf16_norm_apply_rows(s, &p, y, windows, s->stream &&
		    windows == shift);
		if (windows)
			bf16_clear_ends(s, &p);
		else if (shift)
			bf16_scatter(s, &p, y);
	}
}

static void
bf16_norm_forward(struct task *t)
{
	struct bf16_pass s = bf16_norm_open(t);
	int pieces = s.images * s.cuts;

	if (s.bn->needs_weight_grad && s.bn->op->bn.fixed) {
		bf16_norm_running_statistics(&s);
	} else if (s.bn->needs_weight_grad) {
		cpu_run(t, pieces, bf16_norm_stats_part, &s);
		cpu_run(t, s.row / 16, bf16_norm_join_part, &s);
		if (norm_is_synced(s.bn))
			bf16_norm_unpack_statistics(&s);
	}
	bf16_norm_set_scale(&s);
	cpu_run(t, pieces, bf16_norm_apply_part, &s);
}

static void
bf16_norm_recompute(struct task *t)
{
	struct bf16_pass s = bf16_norm_open(t);

	s.recompute = 1;
	bf16_norm_set_scale(&s);
	cpu_run(t, s.images * s.cuts, bf16_norm_apply_part, &s);
}

/* ---- backward ---- */

/*
 * Set x of the rows ${p}, or zeros if x is no longer in memory.  In that case
 * the relu uses a mask, and x has no other part in the gradient.
 */
static void
bf16_norm_input_rows(const struct bf16_pass *s, const struct bf16_rows *p,
    struct bf16_gradient *g)
{
	int there = (task_reads(s->bn) & READS_X) != 0;

	g->x = there ? bf16_rows_at(s, s->bn->x[0], p) : s->zeros;
	g->x_row = there ? (size_t)s->row : 0;
}

/*
 * Describe the gradient of the rows ${p} and return the number of windows.
 * ${more} is the gathered gradient of the shift, if it has no windows.
 */
static int
bf16_norm_gradient_of(const struct bf16_pass *s, const struct bf16_rows *p,
    const bf16 *more, struct bf16_gradient w[HALF_WINDOWS])
{
	const struct norm *n = s->n;
	struct bf16_source lies = s->shifted;
	struct bf16_gradient g = { .row = (size_t)s->row, .dy = s->zeros,
		.relu = n->relu != NULL, .mask = bf16_mask_at(s, p),
		.a = s->scale, .b = s->offset };
	int count = 0;

	bf16_norm_input_rows(s, p, &g);
	lies.x = n->shift == NULL ? NULL : n->shift->dy;
	lies.dropped = NULL;
	if (n->tail->dy != NULL) {
		g.dy = bf16_rows_at(s, n->tail->dy, p);
		g.dy_row = (size_t)s->row;
	}
	for (int c = 0, end = s->row; c < s->row; c = end, end = s->row) {
		g.first = c;
		g.more_row = (size_t)s->row;
		if (more != NULL)
			g.more = more + c;
		else if (lies.x != NULL)
			g.more = bf16_window(s, &lies, p, c, &g.more_row, &end);
		if (lies.x != NULL && g.more == NULL) {
			g.more = s->zeros;
			g.more_row = 0;
		}
		g.c = end - c;
		w[count++] = g;
	}
	return count;
}

/*
 * Return the gathered gradient of the shift, or NULL if there is none or it has
 * windows.
 */
static const bf16 *
bf16_norm_gathered(const struct bf16_pass *s, const struct bf16_rows *p,
    int thread)
{
	if (s->n->shift == NULL || s->windows || s->n->shift->dy == NULL)
		return NULL;
	bf16_gather(s, p, bf16_work(s, thread));
	return bf16_work(s, thread);
}

/*
 * Return the shortcut gradient of the rows ${p}, or NULL if none is wanted.  It
 * is the gradient that passes the relu.  Unless it was added to another
 * gradient, the second pass can read it instead of computing it again.
 */
static bf16 *
bf16_norm_shortcut_gradient(const struct bf16_pass *s,
    const struct bf16_rows *p)
{
	const struct norm *n = s->n;

	return n->add == NULL || n->add->dx[n->res] == NULL ? NULL :
	    bf16_rows_at(s, n->add->dx[n->res], p);
}

static void
bf16_norm_sums_part(int i, int thread, void *arg)
{
	const struct bf16_pass *s = arg;
	struct bf16_rows whole = bf16_piece(s, i), p = { 0 };
	float *db = s->p + (size_t)i * (size_t)s->row;
	float *ds = s->q + (size_t)i * (size_t)s->row;
	struct bf16_gradient w[HALF_WINDOWS];

	memset(db, 0, (size_t)s->row * sizeof(*db));
	memset(ds, 0, (size_t)s->row * sizeof(*ds));
	while (bf16_next_chunk(s, &whole, &p)) {
		const bf16 *more = bf16_norm_gathered(s, &p, thread);
		int n = bf16_norm_gradient_of(s, &p, more, w);

		s->k->sums(w, n, p.rows, s->mean, db, ds,
		    bf16_norm_shortcut_gradient(s, &p), s->n->add != NULL &&
		    s->n->add->accumulate[s->n->res], s->stream);
	}
}

/*
 * With xh = (x - mean) rstd and n values:
 *
 *	dx = gamma rstd (v - db / n - xh ds / n) = a v + b x + c
 *	ds = rstd sum of v (x - mean), db = sum of v
 *
 * Fixed statistics do not depend on x: dx = gamma rstd v, the limit for
 * infinite n.  If no parameter is trained either, no sums are needed.
 */
static void
bf16_norm_set_factors(const struct bf16_pass *s, int c, int at, double count,
    double db, double ds)
{
	double a = ((const float *)s->bn->w[0])[c] * (double)s->rstd[at];

	s->a[at] = (float)a;
	s->b[at] = (float)(-a * s->rstd[at] * ds / count);
	s->c[at] = (float)(a * (s->mean[at] * s->rstd[at] * ds - db) / count);
}

static void
bf16_norm_join_sums_part(int block, int thread, void *arg)
{
	const struct bf16_pass *s = arg;
	struct task *bn = s->bn;
	const struct bf16_pieces pieces = bf16_norm_pieces_of(s);
	double count = bn->op->bn.fixed ? INFINITY : (double)s->hw * s->images;
	double db[16], ds[16];

	(void)thread;
	s->k->add(&pieces, block * 16, db, ds);
	for (int i = 0, at = block * 16; i < 16; i++, at++) {
		int c = bf16_channel_of(s->row, at);

		if (c >= s->d->c) {
			s->a[at] = s->b[at] = s->c[at] = 0;
			continue;
		}
		ds[i] *= s->rstd[at];
		((float *)bn->dw[0])[c] = (float)ds[i];
		((float *)bn->dw[1])[c] = (float)db[i];
		if (norm_is_synced(bn)) {
			s->sync[c] = db[i];
			s->sync[s->d->c + c] = ds[i];
		} else {
			bf16_norm_set_factors(s, c, at, count, db[i], ds[i]);
		}
	}
}

static void
bf16_norm_unpack_factors(struct bf16_pass *s)
{
	double count = peers_count(s->bn, (double)s->hw * s->images);

	peers_sum(s->bn, s->sync);
	for (int c = 0; c < s->d->c; c++)
		bf16_norm_set_factors(s, c, bf16_channel(s->row, c), count,
		    s->sync[c], s->sync[s->d->c + c]);
}

static void
bf16_norm_back_part(int i, int thread, void *arg)
{
	const struct bf16_pass *s = arg;
	const struct norm *n = s->n;
	struct bf16_rows whole = bf16_piece(s, s->images * s->cuts - 1 - i);
	struct bf16_rows p = { 0 };

	while (bf16_next_chunk(s, &whole, &p)) {
		const bf16 *v = bf16_norm_shortcut_gradient(s, &p);
		bf16 *dx = bf16_rows_at(s, s->bn->dx[0], &p);
		struct bf16_gradient w[HALF_WINDOWS] = { { .c = s->row,
			.row = (size_t)s->row, .dy_row = (size_t)s->row,
			.dy = v } };
		int count = 1;

		bf16_norm_input_rows(s, &p, w);
		if (v == NULL || n->add->accumulate[n->res])
			count = bf16_norm_gradient_of(s, &p,
			    bf16_norm_gathered(s, &p, thread), w);
		s->k->back(dx, w, count, p.rows, s->a, s->b, s->c,
		    s->bn->accumulate[0], s->stream);
	}
}

static void
bf16_norm_backward(struct task *t)
{
	struct bf16_pass s = bf16_norm_open(t);
	int pieces = s.images * s.cuts;

	bf16_norm_set_scale(&s);
	memset(s.zeros, 0, (size_t)s.row * sizeof(bf16));
	memset(s.a, 0, 3 * (size_t)s.row * sizeof(float));
	if (s.bn->needs_weight_grad || (s.n->add != NULL &&
	    s.n->add->dx[s.n->res] != NULL))
		cpu_run(t, pieces, bf16_norm_sums_part, &s);
	if (s.bn->needs_weight_grad)
		cpu_run(t, s.row / 16, bf16_norm_join_sums_part, &s);
	else
		memcpy(s.a, s.scale, (size_t)s.row * sizeof(float));
	if (norm_is_synced(s.bn))
		bf16_norm_unpack_factors(&s);
	if (s.bn->dx[0] != NULL)
		cpu_run(t, pieces, bf16_norm_back_part, &s);
}

/* ---- a task ---- */

static int
bf16_norm_prepare(struct task *t)
{
	if (!bf16_is(&t->out)) {
		t->impl = &bf16_fallback;
		return t->impl->prepare(t);
	}
	return norm_prepare(t);
}

const struct op_impl bf16_bn = {
	.reads = READS_X_DW, .prepare = bf16_norm_prepare,
	.release = norm_release, .saved = bf16_norm_saved,
	.scratch = bf16_norm_scratch, .forward = bf16_norm_forward,
	.recompute = bf16_norm_recompute, .backward = bf16_norm_backward,
	.describe = norm_describe,
};
