/*
 * bmm: products of matrices, one a clip: rows are places, columns channels.
 *
 * The clips are taken one after another.  Of each, the matrices are copied out
 * of their blocks into rows, runs of rows of the result are computed by one
 * thread each, and the result is copied back.  The runs are a function of the
 * shape.  Copying costs one part in 2 k of the arithmetic, k at least 128 in
 * non-local blocks.
 */
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/matrix.h"

enum { RUNS = 16, RUN = 64 };		/* at most, and of at least as many rows */

/* One matrix of the task in rows. */
struct rows {
	const struct dims *d;
	float *v;			/* [places][c] of one clip */
};

/* A product of two such, or of their transposes, into a third. */
struct product {
	const struct task *t;
	const struct rows *a, *b;
	struct rows *to;
	int ta, tb;
	size_t k;
	size_t run;			/* rows of the result at a time */
	int clip, more;
	void *x;			/* an activation: to or from rows */
};

static size_t
size(const struct dims *d)
{
	return dims_places(d) * (size_t)d->c;
}

/* The packed inputs, the output or its gradient, and a gradient. */
static size_t
scratch(const struct task *t)
{
	size_t a = size(&t->in[0]), b = size(&t->in[1]);

	return (a + b + size(&t->out) + (t->training ? a > b ? a : b : 0)) *
	    sizeof(float);
}

/*
 * Part ${i}: block i % blocks of image i / blocks of the clip; pixels are one
 * block, whose numbers lie otherwise.
 */
struct part { size_t place, step, lane, channel, channels; float *x; };

static struct part
part_of(const struct product *p, const struct dims *d, int i)
{
	int lanes = cpu_lanes(), blocks = cpu_blocks(d->c), b = i % blocks;
	int image = p->clip * d->t + i / blocks, left = d->c - b * lanes;
	size_t hw = cpu_places(d);
	struct part k = { (size_t)(i / blocks) * hw, (size_t)lanes, 1,
		(size_t)(b * lanes), (size_t)(left < lanes ? left : lanes),
		cpu_plane(d, p->x, image, b) };

	if (cpu_is_pixels(d)) {
		k.step = 1;
		k.lane = hw;
	}
	return k;
}

static int
parts(const struct dims *d)
{
	return d->t * cpu_blocks(d->c);
}

static void
to_rows(int i, int thread, void *arg)
{
	const struct product *p = arg;
	const struct dims *d = p->to->d;
	struct part k = part_of(p, d, i);
	float *to = p->to->v + k.place * (size_t)d->c + k.channel;

	(void)thread;
	for (size_t h = 0; h < cpu_places(d); h++, to += d->c)
		for (size_t c = 0; c < k.channels; c++)
			to[c] = k.x[h * k.step + c * k.lane];
}

static void
from_rows(int i, int thread, void *arg)
{
	const struct product *p = arg;
	const struct dims *d = p->to->d;
	struct part k = part_of(p, d, i);
	const float *from = p->to->v + k.place * (size_t)d->c + k.channel;

	(void)thread;
	for (size_t h = 0; h < cpu_places(d); h++, from += d->c) {
		float *to = k.x + h * k.step;

		if (p->more)
			for (size_t c = 0; c < k.channels; c++)
				to[c * k.lane] += from[c];
		else
			for (size_t c = 0; c < k.channels; c++)
				to[c * k.lane] = from[c];
		/* The lanes beyond the last channel are 0. */
		for (size_t c = k.channels; k.lane == 1 && c < k.step &&
		    !p->more; c++)
			to[c] = 0;
	}
}

static void
pack(const struct task *t, int clip, struct rows *to, const void *x)
{
	struct product p = { .to = to, .clip = clip, .x = (void *)x };

	cpu_run(t, parts(to->d), to_rows, &p);
}

static void
multiply_part(int i, int thread, void *arg)
{
	const struct product *p = arg;
	size_t m = dims_places(p->to->d), n = (size_t)p->to->d->c;
	size_t row = (size_t)i * p->run;
	size_t lda = (size_t)p->a->d->c, ldb = (size_t)p->b->d->c;

	(void)thread;
	matrix_product(p->ta, p->tb, m - row < p->run ? m - row : p->run, n,
	    p->k, p->a->v + row * (p->ta ? 1 : lda), lda, p->b->v, ldb,
	    p->to->v + row * n, n);
}

/* ${to} = A B over ${k} terms, and into the clip of the activation ${x}. */
static void
multiply(const struct task *t, int clip, struct rows *to, void *x, int more,
    const struct rows *a, int ta, const struct rows *b, int tb, size_t k)
{
	size_t m = dims_places(to->d), run = (m + RUNS - 1) / RUNS;
	struct product p = { t, a, b, to, ta, tb, k, run < RUN ? RUN : run,
		clip, more, x };

	cpu_run(t, (int)((m + p.run - 1) / p.run), multiply_part, &p);
	cpu_run(t, parts(to->d), from_rows, &p);
}

static size_t
terms(const struct task *t)
{
	return t->op->transpose & TRANSPOSE_A ? dims_places(&t->in[0]) :
	    (size_t)t->in[0].c;
}

static void
forward(struct task *t)
{
	float *v = t->scratch;
	struct rows a = { &t->in[0], v };
	struct rows b = { &t->in[1], a.v + size(a.d) };
	struct rows y = { &t->out, b.v + size(b.d) };

	for (int n = 0; n < t->out.n; n++) {
		pack(t, n, &a, t->x[0]);
		pack(t, n, &b, t->x[1]);
		multiply(t, n, &y, t->y, 0, &a, t->op->transpose & TRANSPOSE_A,
		    &b, t->op->transpose & TRANSPOSE_B, terms(t));
	}
}

/*
 * With Y = A B:  dA = dY B', dB = A' dY, where A' is the transpose; and where
 * the input is transposed, the transposes of these.
 */
static void
backward(struct task *t)
{
	int ta = t->op->transpose & TRANSPOSE_A;
	int tb = t->op->transpose & TRANSPOSE_B;
	float *v = t->scratch;
	struct rows a = { &t->in[0], v };
	struct rows b = { &t->in[1], a.v + size(a.d) };
	struct rows dy = { &t->out, b.v + size(b.d) };
	struct rows da = { a.d, dy.v + size(dy.d) }, db = { b.d, da.v };
	size_t p = dims_places(dy.d), q = (size_t)dy.d->c;

	for (int n = 0; n < t->out.n; n++) {
		pack(t, n, &a, t->x[0]);
		pack(t, n, &b, t->x[1]);
		pack(t, n, &dy, t->dy);
		if (t->dx[0] != NULL && !ta)
			multiply(t, n, &da, t->dx[0], t->accumulate[0], &dy, 0,
			    &b, !tb, q);
		else if (t->dx[0] != NULL)
			multiply(t, n, &da, t->dx[0], t->accumulate[0], &b, tb,
			    &dy, 1, q);
		if (t->dx[1] != NULL && !tb)
			multiply(t, n, &db, t->dx[1], t->accumulate[1], &a, !ta,
			    &dy, 0, p);
		else if (t->dx[1] != NULL)
			multiply(t, n, &db, t->dx[1], t->accumulate[1], &dy, 1,
			    &a, ta, p);
	}
}

const struct op_impl cpu_bmm = {
	.reads = READS_X, .scratch = scratch, .forward = forward,
	.backward = backward,
};
