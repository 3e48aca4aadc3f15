/*
 * Batch normalisation over a microbatch.  Each plane gives its mean and its
 * squared deviations; they are joined in double, image by image (Chan et al.
 * 1979).
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"

/* Saved: mean and 1 / std of each channel, padded. */
static size_t
saved(const struct task *t)
{
	return 2 * (size_t)cpu_padded(t->out.c) * sizeof(float);
}

/* Scratch: two numbers a plane and lane, then three rows of channels. */
static size_t
scratch(const struct task *t)
{
	size_t row = (size_t)cpu_padded(t->out.c);

	return (2 * row * (size_t)cpu_images(&t->out) + 3 * row) * sizeof(float);
}

struct bn {
	struct task *t;
	struct pool *pool;
	const struct kernels *k;
	int row, blocks, images;	/* row: channels, padded */
	size_t hw;
	float *mean, *rstd;		/* [row] */
	float *p, *q;			/* [images][row] */
	float *a, *b, *c;		/* [row] */
};

static struct bn
open_bn(struct task *t)
{
	struct bn n = { .t = t, .pool = cpu_of(t)->pool,
		.k = cpu_of(t)->k, .row = cpu_padded(t->out.c),
		.blocks = cpu_blocks(t->out.c), .images = cpu_images(&t->out),
		.hw = cpu_places(&t->out) };
	size_t planes = (size_t)n.row * n.images;

	n.mean = t->saved;
	n.rstd = n.mean + n.row;
	n.p = t->scratch;
	n.q = n.p + planes;
	n.a = n.q + planes;
	n.b = n.a + n.row;
	n.c = n.b + n.row;
	return n;
}

/* The channels of block ${b} that are real. */
static int
channels_to(const struct bn *n, int b)
{
	int to = (b + 1) * cpu_lanes();

	return to < n->t->out.c ? to : n->t->out.c;
}

/* Part i of a loop over planes: image i / blocks, block i % blocks. */
static float *
plane(const struct bn *n, const void *x, int i)
{
	return cpu_plane(&n->t->out, x, i / n->blocks, i % n->blocks);
}

static size_t
at(const struct bn *n, int i)
{
	return (size_t)(i / n->blocks) * n->row +
	    (size_t)(i % n->blocks) * cpu_lanes();
}

static void
stats_part(int i, int thread, void *arg)
{
	const struct bn *n = arg;

	(void)thread;
	n->k->plane_stats(plane(n, n->t->x[0], i), n->hw, n->p + at(n, i),
	    n->q + at(n, i));
}

/* Join the planes of one block of channels. */
static void
join_part(int b, int thread, void *arg)
{
	const struct bn *n = arg;
	double hw = (double)n->hw, count = hw * n->images;

	(void)thread;
	for (int c = b * cpu_lanes(); c < channels_to(n, b); c++) {
		double mean = 0, m2 = 0;

		for (int i = 0; i < n->images; i++)
			mean += n->p[(size_t)i * n->row + c];
		mean /= n->images;
		for (int i = 0; i < n->images; i++) {
			double d = n->p[(size_t)i * n->row + c] - mean;

			m2 += n->q[(size_t)i * n->row + c] + hw * d * d;
		}
		n->mean[c] = (float)mean;
		n->rstd[c] = (float)(1 / sqrt(m2 / count + n->t->op->eps));
		((float *)n->t->dw[2])[c] = (float)mean;
		((float *)n->t->dw[3])[c] =
		    (float)(m2 / (count > 1 ? count - 1 : 1));
	}
}

static void
affine_part(int i, int thread, void *arg)
{
	const struct bn *n = arg;
	size_t c = (size_t)(i % n->blocks) * cpu_lanes();

	(void)thread;
	n->k->plane_affine(plane(n, n->t->y, i), plane(n, n->t->x[0], i), n->hw,
	    n->a + c, n->b + c);
}

static void
forward(struct task *t)
{
	struct bn n = open_bn(t);
	const float *scale = t->w[0], *offset = t->w[1];
	int planes = n.images * n.blocks;

	if (t->training) {
		pool_run(n.pool, planes, stats_part, &n);
		pool_run(n.pool, n.blocks, join_part, &n);
	}
	memset(n.a, 0, 2 * (size_t)n.row * sizeof(float));
	for (int c = 0; c < t->out.c; c++) {
		float mean = t->training ? n.mean[c] :
		    ((const float *)t->w[2])[c];
		float rstd = t->training ? n.rstd[c] : (float)
		    (1 / sqrt(((const float *)t->w[3])[c] + t->op->eps));

		n.a[c] = scale[c] * rstd;
		n.b[c] = offset[c] - mean * n.a[c];
	}
	pool_run(n.pool, planes, affine_part, &n);
}

static void
grads_part(int i, int thread, void *arg)
{
	const struct bn *n = arg;

	(void)thread;
	n->k->plane_grads(plane(n, n->t->dy, i), plane(n, n->t->x[0], i), n->hw,
	    n->mean + (size_t)(i % n->blocks) * cpu_lanes(), n->p + at(n, i),
	    n->q + at(n, i));
}

/*
 * With xh = (x - mean) rstd:  dx = scale rstd (dy - db / n - xh ds / n)
 * = a dy + b x + c, where ds = rstd sum dy (x - mean).
 */
static void
join_grads_part(int b, int thread, void *arg)
{
	const struct bn *n = arg;
	double count = (double)n->hw * n->images;

	(void)thread;
	for (int c = b * cpu_lanes(); c < channels_to(n, b); c++) {
		double db = 0, ds = 0, a;

		for (int i = 0; i < n->images; i++) {
			db += n->p[(size_t)i * n->row + c];
			ds += n->q[(size_t)i * n->row + c];
		}
		ds *= n->rstd[c];
		((float *)n->t->dw[0])[c] = (float)ds;
		((float *)n->t->dw[1])[c] = (float)db;
		a = ((const float *)n->t->w[0])[c] * (double)n->rstd[c];
		n->a[c] = (float)a;
		n->b[c] = (float)(-a * n->rstd[c] * ds / count);
		n->c[c] = (float)(a * (n->mean[c] * n->rstd[c] * ds - db) /
		    count);
	}
}

static void
back_part(int i, int thread, void *arg)
{
	const struct bn *n = arg;
	size_t c = (size_t)(i % n->blocks) * cpu_lanes();

	(void)thread;
	n->k->plane_back(plane(n, n->t->dx[0], i), plane(n, n->t->dy, i),
	    plane(n, n->t->x[0], i), n->hw, n->a + c, n->b + c, n->c + c,
	    n->t->accumulate[0]);
}

static void
backward(struct task *t)
{
	struct bn n = open_bn(t);
	int planes = n.images * n.blocks;

	pool_run(n.pool, planes, grads_part, &n);
	memset(n.a, 0, 3 * (size_t)n.row * sizeof(float));
	pool_run(n.pool, n.blocks, join_grads_part, &n);
	if (t->dx[0] != NULL)
		pool_run(n.pool, planes, back_part, &n);
}

const struct op_impl cpu_bn = {
	.reads = READS_X, .prepare = cpu_blocked, .saved = saved,
	.scratch = scratch, .forward = forward, .backward = backward,
};
