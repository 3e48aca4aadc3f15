/*
 * The operator bn in fp32, and the operators fused with it (norm.h):
 *
 *	y = relu(gamma (x - mean) / sqrt(var + eps) + beta + shortcut)
 *
 * The shift of y is fused too.  Forward makes two passes over the planes, for
 * the statistics and for y; backward makes two, for the sums and for dx.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/norm_pass.h"
#include "backend/peers.h"
#include "base/mem.h"

/* ---- forward ---- */

static void
cpu_norm_stats_part(int i, int thread, void *arg)
{
	const struct norm_pass *s = arg;

	(void)thread;
	s->k->stats(norm_plane(s, s->bn->x[0], i), s->hw, s->p + norm_sums_at(s,
	    i), s->q + norm_sums_at(s, i));
}

/*
 * Return plane ${i} of the shortcut.  If another activation holds it shifted,
 * it is in that one or among the planes saved next to it.
 */
static const float *
cpu_norm_shortcut(const struct norm_pass *s, int i)
{
	const struct norm *n = s->n, *from;
	const float *x;

	if (n->shortcut_home == NULL)
		return norm_plane(s, n->add->x[n->res], i);
	from = n->shortcut_home->priv;
	x = norm_shifted_plane(s, from->shift, from->shift->y, i);
	return x != NULL ? x : norm_dropped_plane(s, from->shift,
	    norm_dropped(n->shortcut_home), i);
}

/* Write shifted plane ${i} of a block that takes lanes from several frames. */
static void
cpu_norm_apply_mix(const struct norm_pass *s, int i, struct norm_mix *m,
    size_t c)
{
	const struct norm *n = s->n;
	struct norm_apply_mix p = { .x = *m, .res = *m, .add = n->add != NULL,
		.a = s->scale + c, .b = s->offset + c, .relu = n->relu != NULL,
		.y = norm_plane(s, n->shift->y, i) };

	norm_mix_planes(s, s->bn->x[0], i, 1, &p.x);
	for (int k = 0; k < 3; k++)
		if (p.x.from[k] == s->zeros)
			memset(p.x.lane[k], 0, sizeof(p.x.lane[k]));
	for (int k = 0; k < 3 && n->add != NULL; k++) {
		int image = i + (k == 0 ? 1 : k == 1 ? -1 : 0) * s->blocks;

		p.res.from[k] = p.x.from[k] == s->zeros ? s->zeros :
		    cpu_norm_shortcut(s, image);
	}
	s->k->apply_mix(&p, s->hw);
}

static void
cpu_norm_apply_part(int i, int thread, void *arg)
{
	const struct norm_pass *s = arg;
	const struct norm *n = s->n;
	size_t c = (size_t)(i % s->blocks) * (size_t)cpu_lanes();
	struct cpu_norm_apply p = { .x = norm_plane(s, s->bn->x[0], i),
		.res = n->add != NULL ? cpu_norm_shortcut(s, i) : NULL,
		.a = s->scale + c, .b = s->offset + c, .relu = n->relu != NULL,
		.mask = s->mask == NULL || s->recompute ? NULL :
		    s->mask + (size_t)i * s->hw };
	int shift = n->shift != NULL && norm_writes(n->shift, s->recompute);
	struct norm_mix m;

	(void)thread;
	if (norm_writes(n->tail, s->recompute))
		p.y = norm_plane(s, n->tail->y, i);
	if (shift && norm_lanes_of(n->shift, i % s->blocks, &m)) {
		cpu_norm_apply_mix(s, i, &m, c);
	} else if (shift) {
		float **to = p.y == NULL ? &p.y : &p.copy;

		*to = norm_shifted_plane(s, n->shift, n->shift->y, i);
		if (*to == NULL)
			norm_clear_end(s, i);
	}
	if (p.y == NULL && !s->recompute)
		p.y = norm_dropped_plane(s, n->shift, s->dropped, i);
	if (p.y != NULL)
		s->k->apply(&p, s->hw);
}

/*
 * Return 1 if one thread should do all of a pass for a block of channels: its
 * planes are then still in the cache when it reads them again.  With few blocks
 * per thread, each round over the planes is a parallel loop of its own.  This
 * also holds with peers, which exchange the sums of all blocks at once.  The
 * sums are the same in both cases.
 */
static int
cpu_norm_by_blocks(const struct task *t, const struct norm_pass *s)
{
	int threads = pool_threads(cpu_of(t)->pool);

	return s->blocks % threads == 0 || s->blocks >= 4 * threads;
}

static void
cpu_norm_forward_block(int b, int thread, void *arg)
{
	const struct norm_pass *s = arg;

	for (int i = b; i < s->images * s->blocks && norm_measures(s->bn);
	    i += s->blocks)
		cpu_norm_stats_part(i, thread, arg);
	if (norm_measures(s->bn))
		norm_combine_part(b, thread, arg);
	else if (s->bn->needs_weight_grad)
		norm_running_part(b, thread, arg);
	norm_set_scale(s, b);
	for (int i = b; i < s->images * s->blocks; i += s->blocks)
		cpu_norm_apply_part(i, thread, arg);
}

static void
cpu_norm_forward(struct task *t)
{
	struct norm_pass s = norm_open(t);
	int planes = s.images * s.blocks;

	memset(s.zeros, 0, norm_plane_floats(s.d) * sizeof(float));
	if (!norm_is_synced(s.bn) && cpu_norm_by_blocks(t, &s)) {
		cpu_run(t, s.blocks, cpu_norm_forward_block, &s);
		return;
	}
	if (norm_measures(s.bn)) {
		cpu_run(t, planes, cpu_norm_stats_part, &s);
		cpu_run(t, s.blocks, norm_combine_part, &s);
		if (norm_is_synced(s.bn)) {
			peers_sum(s.bn, s.sync);
			cpu_run(t, s.blocks, norm_unpack_part, &s);
		}
	} else if (s.bn->needs_weight_grad) {
		cpu_run(t, s.blocks, norm_running_part, &s);
	}
	for (int b = 0; b < s.blocks; b++)
		norm_set_scale(&s, b);
	cpu_run(t, planes, cpu_norm_apply_part, &s);
}

static void
cpu_norm_recompute(struct task *t)
{
	struct norm_pass s = norm_open(t);

	s.recompute = 1;
	memset(s.zeros, 0, norm_plane_floats(s.d) * sizeof(float));
	for (int b = 0; b < s.blocks; b++)
		norm_set_scale(&s, b);
	cpu_run(t, s.images * s.blocks, cpu_norm_apply_part, &s);
}

/* ---- backward ---- */

/*
 * Return plane ${i} of x, or zeros if x is no longer in memory.  In that case
 * the relu uses a mask, and x has no other part in the gradient.
 */
static const float *
cpu_norm_input_plane(const struct norm_pass *s, int i)
{
	return task_reads(s->bn) & READS_X ? norm_plane(s, s->bn->x[0], i) :
	    s->zeros;
}

/*
 * Describe the gradient of plane ${i}.  ${mix} is storage for a block that
 * sends lanes to several frames.
 */
static struct norm_gradient
cpu_norm_gradient_of(const struct norm_pass *s, int i, struct norm_mix *mix)
{
	const struct norm *n = s->n;
	size_t c = (size_t)(i % s->blocks) * (size_t)cpu_lanes();
	struct norm_gradient g = { .relu = n->relu != NULL,
		.mask = s->mask == NULL ? NULL : s->mask + (size_t)i * s->hw,
		.x = cpu_norm_input_plane(s, i), .a = s->scale + c,
		.b = s->offset + c };

	if (n->tail->dy != NULL)
		g.dy[g.n++] = norm_plane(s, n->tail->dy, i);
	if (n->shift != NULL && norm_lanes_of(n->shift, i % s->blocks, mix)) {
		norm_mix_planes(s, n->shift->dy, i, -1, mix);
		g.mix = mix;
		g.n++;
	} else if (n->shift != NULL) {
		const float *dy = norm_shifted_plane(s, n->shift, n->shift->dy,
		    i);

		if (dy != NULL)
			g.dy[g.n++] = dy;
	}
	if (g.n == 0)
		g.dy[g.n++] = s->zeros;
	return g;
}

/*
 * Return plane ${i} of the shortcut gradient, or NULL if none is wanted.  It is
 * the gradient that passes the relu.  Unless it was added to another gradient,
 * the second pass can read it instead of computing it again.
 */
static float *
cpu_norm_shortcut_gradient(const struct norm_pass *s, int i)
{
	const struct norm *n = s->n;

	return n->add == NULL || n->add->dx[n->res] == NULL ? NULL :
	    norm_plane(s, n->add->dx[n->res], i);
}

static void
cpu_norm_sums_part(int i, int thread, void *arg)
{
	const struct norm_pass *s = arg;
	struct norm_mix mix;
	struct norm_gradient g = cpu_norm_gradient_of(s, i, &mix);

	(void)thread;
	s->k->sums(&g, s->hw, s->mean + (size_t)(i % s->blocks) *
	    (size_t)cpu_lanes(), s->p + norm_sums_at(s, i),
	    s->q + norm_sums_at(s, i),
	    cpu_norm_shortcut_gradient(s, i), s->n->add != NULL &&
	    s->n->add->accumulate[s->n->res]);
}

static void
cpu_norm_back_part(int i, int thread, void *arg)
{
	const struct norm_pass *s = arg;
	const struct norm *n = s->n;
	size_t c = (size_t)(i % s->blocks) * (size_t)cpu_lanes();
	struct norm_mix mix;
	struct norm_gradient g = cpu_norm_gradient_of(s, i, &mix);
	const float *v = cpu_norm_shortcut_gradient(s, i);

	(void)thread;
	if (v != NULL && !n->add->accumulate[n->res])
		g = (struct norm_gradient){ .dy = { v }, .n = 1, .x = g.x };
	s->k->back(norm_plane(s, s->bn->dx[0], i), &g, s->hw, s->a + c,
	    s->b + c, s->c + c, s->bn->accumulate[0]);
}

/*
 * Return 1 if a pass of sums is needed: for parameter gradients, or because it
 * writes the shortcut gradient.
 */
static int
cpu_norm_sums_up(const struct norm_pass *s)
{
	return s->bn->needs_weight_grad || cpu_norm_shortcut_gradient(s,
	    0) != NULL;
}

static void
cpu_norm_backward_block(int b, int thread, void *arg)
{
	const struct norm_pass *s = arg;

	norm_set_scale(s, b);
	for (int i = b; i < s->images * s->blocks && cpu_norm_sums_up(s);
	    i += s->blocks)
		cpu_norm_sums_part(i, thread, arg);
	norm_factors_part(b, thread, arg);
	for (int i = b; i < s->images * s->blocks && s->bn->dx[0] != NULL;
	    i += s->blocks)
		cpu_norm_back_part(i, thread, arg);
}

static void
cpu_norm_backward(struct task *t)
{
	struct norm_pass s = norm_open(t);
	int planes = s.images * s.blocks;

	memset(s.a, 0, 3 * (size_t)s.row * sizeof(float));
	memset(s.zeros, 0, norm_plane_floats(s.d) * sizeof(float));
	if (!norm_is_synced(s.bn) && cpu_norm_by_blocks(t, &s)) {
		cpu_run(t, s.blocks, cpu_norm_backward_block, &s);
		return;
	}
	for (int b = 0; b < s.blocks; b++)
		norm_set_scale(&s, b);
	if (cpu_norm_sums_up(&s))
		cpu_run(t, planes, cpu_norm_sums_part, &s);
	cpu_run(t, s.blocks, norm_factors_part, &s);
	if (norm_is_synced(s.bn)) {
		peers_sum(s.bn, s.sync);
		cpu_run(t, s.blocks, norm_unpack_factors_part, &s);
	}
	if (s.bn->dx[0] != NULL)
		cpu_run(t, planes, cpu_norm_back_part, &s);
}

/* ---- a task ---- */

int
norm_prepare(struct task *t)
{
	struct norm *n;

	if (t->priv == NULL) {
		t->priv = n = xcalloc(1, sizeof(*n));
		n->bn = n->tail = t;
	}
	return cpu_blocked(((struct norm *)t->priv)->bn);
}

void
norm_describe(const struct task *t, char *text, size_t size)
{
	const struct norm *n = t->priv;

	snprintf(text, size, "one pass%s%s%s", n->shift == NULL ? "" :
	    n->tail->materialized ? ", stored plain and shifted" :
	    ", stored shifted", n->shortcut_home != NULL ? ", shortcut read "
	    "shifted" : "", n->saves_mask ? ", a bit mask" : "");
}

const struct op_impl cpu_bn = {
	.reads = READS_X_DW, .prepare = norm_prepare, .release = norm_release,
	.saved = norm_saved, .scratch = norm_scratch,
	.forward = cpu_norm_forward, .recompute = cpu_norm_recompute,
	.backward = cpu_norm_backward, .describe = norm_describe,
};
