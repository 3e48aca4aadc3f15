/*
 * Batch normalisation over a microbatch, with what is fused with it (norm.h).
 * Each plane gives its mean and its squared deviations; they are joined in
 * double, image by image (Chan et al. 1979).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/norm.h"
#include "base/mem.h"

/* The open part of a pass: what all planes share. */
struct pass {
	const struct norm *n;
	struct task *bn;
	const struct dims *d;
	const struct norm_kernels *k;
	int row, blocks, images;	/* row: channels, padded */
	size_t hw;
	float *mean, *rstd;		/* [row] */
	uint16_t *mask;			/* [images][blocks][hw]; NULL: none */
	float *side;			/* [clips][shifted blocks][hw][lanes] */
	float *p, *q;			/* [images][row] */
	float *scale, *offset;		/* [row]: y = x scale + offset */
	float *a, *b, *c;		/* [row]: dx = v a + x b + c */
	float *zeros;			/* a plane */
};

static int
masks(const struct norm *n)
{
	return n->bn->training && n->add != NULL && n->relu != NULL;
}

/* Channels that come from one neighbour, in blocks; as many from the other. */
static int
fold(const struct task *shift)
{
	return shift->out.c / shift->op->fold / cpu_lanes();
}

static size_t
plane_floats(const struct dims *d)
{
	return cpu_places(d) * (size_t)cpu_lanes();
}

static size_t
side_floats(const struct norm *n)
{
	return n->shift == NULL || n->tail->stored ? 0 :
	    (size_t)n->bn->out.n * 2 * (size_t)fold(n->shift) *
	    plane_floats(&n->bn->out);
}

static size_t
mask_bytes(const struct norm *n)
{
	const struct dims *d = &n->bn->out;

	return !masks(n) ? 0 : (size_t)cpu_images(d) *
	    (size_t)cpu_blocks(d->c) * cpu_places(d) * sizeof(uint16_t);
}

/* Saved: mean and 1 / std of each channel, planes beside, the mask. */
static size_t
saved(const struct task *t)
{
	const struct norm *n = t->priv;

	return (2 * (size_t)cpu_padded(t->out.c) + side_floats(n)) *
	    sizeof(float) + mask_bytes(n);
}

static float *
sides(const struct task *t)
{
	return (float *)t->saved + 2 * (size_t)cpu_padded(t->out.c);
}

/* Scratch: two numbers a plane and lane, five rows of channels, zeros. */
static size_t
scratch(const struct task *t)
{
	size_t row = (size_t)cpu_padded(t->out.c);

	return (2 * row * (size_t)cpu_images(&t->out) + 5 * row +
	    plane_floats(&t->out)) * sizeof(float);
}

static struct pass
open_pass(struct task *t)
{
	const struct norm *n = t->priv;
	const struct dims *d = &n->bn->out;
	struct pass s = { .n = n, .bn = n->bn, .d = d,
		.k = cpu_of(t)->norm, .row = cpu_padded(d->c),
		.blocks = cpu_blocks(d->c), .images = cpu_images(d),
		.hw = cpu_places(d) };
	size_t planes = (size_t)s.row * (size_t)s.images;

	s.mean = t->saved;
	s.rstd = s.mean + s.row;
	s.side = sides(t);
	s.mask = masks(n) ? (uint16_t *)(s.side + side_floats(n)) : NULL;
	s.p = t->scratch;
	s.q = s.p + planes;
	s.scale = s.q + planes;
	s.offset = s.scale + s.row;
	s.a = s.offset + s.row;
	s.b = s.a + s.row;
	s.c = s.b + s.row;
	s.zeros = s.c + s.row;
	return s;
}

/* The channels of block ${b} that are real. */
static int
channels_to(const struct pass *s, int b)
{
	int to = (b + 1) * cpu_lanes();

	return to < s->d->c ? to : s->d->c;
}

/* Part i of a loop over planes: image i / blocks, block i % blocks. */
static float *
plane(const struct pass *s, const void *x, int i)
{
	return cpu_plane(s->d, x, i / s->blocks, i % s->blocks);
}

static size_t
at(const struct pass *s, int i)
{
	return (size_t)(i / s->blocks) * (size_t)s->row +
	    (size_t)(i % s->blocks) * (size_t)cpu_lanes();
}

/* ---- where a shifted activation has a plane ---- */

/*
 * Which frame a plane of this block moves to, relative to its own: -1, 1 or 0.
 * All of its channels move alike.
 */
static int
moves(const struct task *shift, int block)
{
	int c = shift->out.c / shift->op->fold, first = block * cpu_lanes();

	return first < c ? -1 : first < 2 * c ? 1 : 0;
}

/* Where ${shifted} has plane ${i}; NULL if the shift drops it. */
static float *
shifted_plane(const struct pass *s, const struct task *shift,
    const void *shifted, int i)
{
	int image = i / s->blocks, block = i % s->blocks;
	int frame = image % s->d->t + moves(shift, block);

	if (frame < 0 || frame >= s->d->t)
		return NULL;
	return cpu_plane(s->d, shifted, image + moves(shift, block), block);
}

/*
 * The lanes of block ${b} that the shift takes from frames ahead, behind and
 * from their own; 1 if more than one of the three has any.
 */
static int
lanes_of(const struct task *shift, int b, struct norm_mix *m)
{
	int c = shift->out.c / shift->op->fold, seen[3] = { 0 };

	for (int l = 0; l < cpu_lanes(); l++) {
		int at = b * cpu_lanes() + l, k = at < c ? 0 : at < 2 * c ? 1 : 2;

		for (int i = 0; i < 3; i++)
			m->lane[i][l] = i == k ? -1 : 0;
		seen[k] = 1;
	}
	return seen[0] + seen[1] + seen[2] > 1;
}

/* Plane ${i} of frames ahead, behind and its own; zeros beyond the clip. */
static void
mix_planes(const struct pass *s, const void *x, int i, int sign,
    struct norm_mix *m)
{
	const int by[3] = { sign, -sign, 0 };
	int image = i / s->blocks, frame = image % s->d->t;

	for (int k = 0; k < 3; k++) {
		int f = frame + by[k];

		m->from[k] = f < 0 || f >= s->d->t ? s->zeros :
		    cpu_plane(s->d, x, image + by[k], i % s->blocks);
	}
}

/* Where a dropped plane ${i} is kept. */
static float *
side_plane(const struct pass *s, const struct task *shift, float *side, int i)
{
	int clip = i / s->blocks / s->d->t, block = i % s->blocks;

	return side + ((size_t)clip * 2 * (size_t)fold(shift) +
	    (size_t)block) * plane_floats(s->d);
}

/* A dropped plane leaves one at the clip's other end that nothing fills. */
static void
clear_other_end(const struct pass *s, int i)
{
	const struct task *shift = s->n->shift;
	int image = i / s->blocks, block = i % s->blocks, t = s->d->t;
	int other = image - moves(shift, block) * (t - 1);

	memset(cpu_plane(s->d, shift->y, other, block), 0,
	    plane_floats(s->d) * sizeof(float));
}

/* ---- forward ---- */

static void
stats_part(int i, int thread, void *arg)
{
	const struct pass *s = arg;

	(void)thread;
	s->k->stats(plane(s, s->bn->x[0], i), s->hw, s->p + at(s, i),
	    s->q + at(s, i));
}

/* Join the planes of one block of channels. */
static void
join_part(int b, int thread, void *arg)
{
	const struct pass *s = arg;
	double hw = (double)s->hw, count = hw * s->images;

	(void)thread;
	for (int c = b * cpu_lanes(); c < channels_to(s, b); c++) {
		double mean = 0, m2 = 0;

		for (int i = 0; i < s->images; i++)
			mean += s->p[(size_t)i * s->row + c];
		mean /= s->images;
		for (int i = 0; i < s->images; i++) {
			double d = s->p[(size_t)i * s->row + c] - mean;

			m2 += s->q[(size_t)i * s->row + c] + hw * d * d;
		}
		s->mean[c] = (float)mean;
		s->rstd[c] = (float)(1 / sqrt(m2 / count + s->bn->op->eps));
		((float *)s->bn->dw[2])[c] = (float)mean;
		((float *)s->bn->dw[3])[c] =
		    (float)(m2 / (count > 1 ? count - 1 : 1));
	}
}

/*
 * y = x scale + offset, from the batch's statistics or the running ones, for
 * the channels of block ${b}.
 */
static void
set_scale(const struct pass *s, int b)
{
	struct task *bn = s->bn;
	const float *gamma = bn->w[0], *beta = bn->w[1];
	int first = b * cpu_lanes();

	memset(s->scale + first, 0, (size_t)cpu_lanes() * sizeof(float));
	memset(s->offset + first, 0, (size_t)cpu_lanes() * sizeof(float));
	for (int c = first; c < channels_to(s, b); c++) {
		float mean = bn->training ? s->mean[c] :
		    ((const float *)bn->w[2])[c];
		float rstd = bn->training ? s->rstd[c] : (float)
		    (1 / sqrt(((const float *)bn->w[3])[c] + bn->op->eps));

		s->scale[c] = gamma[c] * rstd;
		s->offset[c] = beta[c] - mean * s->scale[c];
	}
}

/* Plane ${i} of the shortcut, wherever it lies. */
static const float *
shortcut(const struct pass *s, int i)
{
	const struct norm *n = s->n, *from;
	const float *x;

	if (n->home == NULL)
		return plane(s, n->add->x[n->res], i);
	from = n->home->priv;
	x = shifted_plane(s, from->shift, from->shift->y, i);
	return x != NULL ? x : side_plane(s, from->shift, sides(n->home), i);
}

/* The shifted plane of a block whose lanes come from several frames. */
static void
apply_mix(const struct pass *s, int i, struct norm_mix *m, size_t c)
{
	const struct norm *n = s->n;
	struct norm_apply_mix p = { .x = *m, .res = *m, .add = n->add != NULL,
		.a = s->scale + c, .b = s->offset + c, .relu = n->relu != NULL,
		.y = plane(s, n->shift->y, i) };

	mix_planes(s, s->bn->x[0], i, 1, &p.x);
	for (int k = 0; k < 3; k++)
		if (p.x.from[k] == s->zeros)
			memset(p.x.lane[k], 0, sizeof(p.x.lane[k]));
	for (int k = 0; k < 3 && n->add != NULL; k++) {
		int image = i + (k == 0 ? 1 : k == 1 ? -1 : 0) * s->blocks;

		p.res.from[k] = p.x.from[k] == s->zeros ? s->zeros :
		    shortcut(s, image);
	}
	s->k->apply_mix(&p, s->hw);
}

static void
apply_part(int i, int thread, void *arg)
{
	const struct pass *s = arg;
	const struct norm *n = s->n;
	size_t c = (size_t)(i % s->blocks) * (size_t)cpu_lanes();
	struct norm_apply p = { .x = plane(s, s->bn->x[0], i),
		.res = n->add != NULL ? shortcut(s, i) : NULL,
		.a = s->scale + c, .b = s->offset + c, .relu = n->relu != NULL,
		.mask = s->mask == NULL ? NULL : s->mask + (size_t)i * s->hw };
	struct norm_mix m;
	float *shifted = NULL;

	(void)thread;
	if (n->shift != NULL && lanes_of(n->shift, i % s->blocks, &m)) {
		apply_mix(s, i, &m, c);
	} else if (n->shift != NULL) {
		shifted = shifted_plane(s, n->shift, n->shift->y, i);
		if (shifted == NULL)
			clear_other_end(s, i);
	}
	if (n->tail->stored) {
		p.y = plane(s, n->tail->y, i);
		p.copy = shifted;
	} else {
		p.y = shifted != NULL ? shifted : side_plane(s, n->shift,
		    s->side, i);
	}
	s->k->apply(&p, s->hw);
}

/*
 * All of a pass over one block of channels: its planes are still in the cache
 * when they are read again.  Where there are few blocks for the threads, each
 * round of planes is a loop of its own instead; the sums are the same.
 */
static int
by_blocks(const struct task *t, const struct pass *s)
{
	int threads = pool_threads(cpu_of(t)->pool);

	return s->blocks % threads == 0 || s->blocks >= 4 * threads;
}

static void
forward_block(int b, int thread, void *arg)
{
	const struct pass *s = arg;

	for (int i = b; i < s->images * s->blocks && s->bn->training;
	    i += s->blocks)
		stats_part(i, thread, arg);
	if (s->bn->training)
		join_part(b, thread, arg);
	set_scale(s, b);
	for (int i = b; i < s->images * s->blocks; i += s->blocks)
		apply_part(i, thread, arg);
}

static void
forward(struct task *t)
{
	struct pass s = open_pass(t);
	int planes = s.images * s.blocks;

	memset(s.zeros, 0, plane_floats(s.d) * sizeof(float));
	if (by_blocks(t, &s)) {
		cpu_run(t, s.blocks, forward_block, &s);
		return;
	}
	if (s.bn->training) {
		cpu_run(t, planes, stats_part, &s);
		cpu_run(t, s.blocks, join_part, &s);
	}
	for (int b = 0; b < s.blocks; b++)
		set_scale(&s, b);
	cpu_run(t, planes, apply_part, &s);
}

/* ---- backward ---- */

/* ${mix} is for a block whose lanes went to several frames. */
static struct norm_gradient
gradient_of(const struct pass *s, int i, struct norm_mix *mix)
{
	const struct norm *n = s->n;
	size_t c = (size_t)(i % s->blocks) * (size_t)cpu_lanes();
	struct norm_gradient g = { .relu = n->relu != NULL,
		.mask = s->mask == NULL ? NULL : s->mask + (size_t)i * s->hw,
		.x = plane(s, s->bn->x[0], i), .a = s->scale + c,
		.b = s->offset + c };

	if (n->tail->dy != NULL)
		g.dy[g.n++] = plane(s, n->tail->dy, i);
	if (n->shift != NULL && lanes_of(n->shift, i % s->blocks, mix)) {
		mix_planes(s, n->shift->dy, i, -1, mix);
		g.mix = mix;
		g.n++;
	} else if (n->shift != NULL) {
		const float *dy = shifted_plane(s, n->shift, n->shift->dy, i);

		if (dy != NULL)
			g.dy[g.n++] = dy;
	}
	if (g.n == 0)
		g.dy[g.n++] = s->zeros;
	return g;
}

/*
 * The shortcut's gradient is what comes through the relu; once it is stored,
 * it is what the second pass begins with, unless it was added to another.
 */
static float *
shortcut_gradient(const struct pass *s, int i)
{
	const struct norm *n = s->n;

	return n->add == NULL || n->add->dx[n->res] == NULL ? NULL :
	    plane(s, n->add->dx[n->res], i);
}

static void
sums_part(int i, int thread, void *arg)
{
	const struct pass *s = arg;
	struct norm_mix mix;
	struct norm_gradient g = gradient_of(s, i, &mix);

	(void)thread;
	s->k->sums(&g, s->hw, s->mean + (size_t)(i % s->blocks) *
	    (size_t)cpu_lanes(), s->p + at(s, i), s->q + at(s, i),
	    shortcut_gradient(s, i), s->n->add != NULL &&
	    s->n->add->accumulate[s->n->res]);
}

/*
 * With xh = (x - mean) rstd:  dx = gamma rstd (v - db / n - xh ds / n)
 * = a v + b x + c, where ds = rstd sum v (x - mean).
 */
static void
join_sums_part(int b, int thread, void *arg)
{
	const struct pass *s = arg;
	struct task *bn = s->bn;
	double count = (double)s->hw * s->images;

	(void)thread;
	for (int c = b * cpu_lanes(); c < channels_to(s, b); c++) {
		double db = 0, ds = 0, a;

		for (int i = 0; i < s->images; i++) {
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
	size_t c = (size_t)(i % s->blocks) * (size_t)cpu_lanes();
	struct norm_mix mix;
	struct norm_gradient g = gradient_of(s, i, &mix);
	const float *v = shortcut_gradient(s, i);

	(void)thread;
	if (v != NULL && !n->add->accumulate[n->res])
		g = (struct norm_gradient){ .dy = { v }, .n = 1, .x = g.x };
	s->k->back(plane(s, s->bn->dx[0], i), &g, s->hw, s->a + c, s->b + c,
	    s->c + c, s->bn->accumulate[0]);
}

static void
backward_block(int b, int thread, void *arg)
{
	const struct pass *s = arg;

	set_scale(s, b);
	for (int i = b; i < s->images * s->blocks; i += s->blocks)
		sums_part(i, thread, arg);
	join_sums_part(b, thread, arg);
	for (int i = b; i < s->images * s->blocks && s->bn->dx[0] != NULL;
	    i += s->blocks)
		back_part(i, thread, arg);
}

static void
backward(struct task *t)
{
	struct pass s = open_pass(t);
	int planes = s.images * s.blocks;

	memset(s.a, 0, 3 * (size_t)s.row * sizeof(float));
	memset(s.zeros, 0, plane_floats(s.d) * sizeof(float));
	if (by_blocks(t, &s)) {
		cpu_run(t, s.blocks, backward_block, &s);
		return;
	}
	for (int b = 0; b < s.blocks; b++)
		set_scale(&s, b);
	cpu_run(t, planes, sums_part, &s);
	cpu_run(t, s.blocks, join_sums_part, &s);
	if (s.bn->dx[0] != NULL)
		cpu_run(t, planes, back_part, &s);
}

/* ---- a task ---- */

/* Fused ones have their priv from cpu_fuse. */
static int
prepare(struct task *t)
{
	struct norm *n;

	if (t->priv == NULL) {
		t->priv = n = xcalloc(1, sizeof(*n));
		n->bn = n->tail = t;
	}
	return cpu_blocked(((struct norm *)t->priv)->bn);
}

static void
release(struct task *t)
{
	free(t->priv);
	t->priv = NULL;
}

static void
describe(const struct task *t, char *text, size_t size)
{
	const struct norm *n = t->priv;

	snprintf(text, size, "one pass%s%s%s", n->shift == NULL ? "" :
	    n->tail->stored ? ", stored plain and shifted" :
	    ", stored shifted", n->home != NULL ? ", shortcut read shifted" :
	    "", masks(n) ? ", a bit mask" : "");
}

const struct op_impl cpu_norm = {
	.reads = READS_X, .prepare = prepare, .release = release,
	.saved = saved, .scratch = scratch, .forward = forward,
	.backward = backward, .describe = describe,
};
