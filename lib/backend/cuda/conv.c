/*
 * Convolutions, by the driver's plans.  A kernel of one frame is a convolution
 * of n t images; one of a single place in each frame, (t, 1, 1), is one of
 * images too, whose rows are the frames and whose columns all places of a frame,
 * which have better plans than volumes.
 *
 * The weights are put in the order and the type that plans want once for as long
 * as they are the same, or, where each microbatch has new ones, from the forward
 * pass to the backward one.  Their gradient comes in that order and type too.
 */
#include <stdlib.h>

#include "backend/cuda/conv.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"
#include "base/mem.h"
#include "base/number.h"

enum { ALIGN = 256, PASSES = 3 };

struct conv {
	struct conv_plan *plan[PASSES];	/* by enum conv_pass; NULL: not run */
	size_t workspace;		/* of the pass that needs most */
};

/* Numbers of the weights, and their bytes as they are kept. */
static size_t
weights(const struct task *t)
{
	return (size_t)t->out.c * (size_t)(t->in[0].c / t->op->groups) *
	    conv_taps(t->op);
}

static size_t
weights_bytes(const struct task *t)
{
	return round_up(weights(t) * cuda_size(cuda_of(t)->type), ALIGN);
}

/* ---- plans ---- */

static void
set_extents(struct conv_shape *s, int i, int from, int to, int kernel,
    int stride, int pad)
{
	s->from[i] = from;
	s->to[i] = to;
	s->kernel[i] = kernel;
	s->stride[i] = stride;
	s->pad[i] = pad;
}

static struct conv_shape
shape_of(const struct task *t, enum conv_pass pass)
{
	const struct op *op = t->op;
	const struct dims *x = &t->in[0], *y = &t->out;
	const int from[3] = { x->t, x->h, x->w }, to[3] = { y->t, y->h, y->w };
	struct conv_shape s = { .pass = pass, .type = cuda_of(t)->type,
		.n = x->n, .in = x->c, .out = y->c, .groups = op->groups,
		.accumulate = pass == CONV_DATA && t->accumulate[0] };
	int flat = op->k[0] == 1 && op->s[0] == 1 && op->p[0] == 0;
	int deep = op->k[1] == 1 && op->k[2] == 1 && op->s[1] == 1 &&
	    op->s[2] == 1 && op->p[1] == 0 && op->p[2] == 0;

	s.dims = flat || deep ? 2 : 3;
	if (flat)
		s.n *= x->t;
	if (deep && !flat) {
		set_extents(&s, 0, x->t, y->t, op->k[0], op->s[0], op->p[0]);
		set_extents(&s, 1, x->h * x->w, y->h * y->w, 1, 1, 0);
		return s;
	}
	for (int i = flat; i < 3; i++)
		set_extents(&s, i - flat, from[i], to[i], op->k[i], op->s[i],
		    op->p[i]);
	return s;
}

static void
release(struct task *t)
{
	struct driver *d = cuda_of(t)->driver;
	struct conv *c = t->priv;

	for (int i = 0; c != NULL && i < PASSES; i++)
		if (c->plan[i] != NULL)
			d->call->conv_free(d, c->plan[i]);
	free(c);
	t->priv = NULL;
}

static int
prepare(struct task *t)
{
	struct driver *d = cuda_of(t)->driver;
	struct conv *c;
	const int wanted[PASSES] = { [CONV_FORWARD] = 1,
		[CONV_DATA] = !t->idle && t->training && t->wants_dx[0],
		[CONV_WEIGHTS] = !t->idle && t->training && t->wants_dw };

	if (depth_is(t->op, &t->in[0])) {
		t->impl = &cuda_depth;
		return 0;
	}
	t->priv = c = xcalloc(1, sizeof(*c));
	for (int i = 0; i < PASSES; i++) {
		struct conv_shape s = shape_of(t, (enum conv_pass)i);
		size_t bytes;

		if (!wanted[i])
			continue;
		if ((c->plan[i] = d->call->conv_new(d, &s)) == NULL) {
			release(t);
			return -1;
		}
		bytes = d->call->conv_workspace(d, c->plan[i]);
		c->workspace = bytes > c->workspace ? bytes : c->workspace;
	}
	return 0;
}

static void
describe(const struct task *t, char *text, size_t size)
{
	struct driver *d = cuda_of(t)->driver;
	const struct conv *c = t->priv;

	d->call->conv_describe(d, c->plan[CONV_FORWARD], text, size);
}

/* ---- memory: the workspace, then a gradient of weights, or a bias's sums ---- */

static size_t
kept(const struct task *t)
{
	return t->repeats ? weights_bytes(t) : 0;
}

static size_t
saved(const struct task *t)
{
	return t->repeats ? 0 : weights_bytes(t);
}

static size_t
gradient_at(const struct task *t)
{
	const struct conv *c = t->priv;

	return round_up(c->workspace, ALIGN);
}

static size_t
scratch(const struct task *t)
{
	const struct conv *c = t->priv;
	size_t bytes = gradient_at(t), sums;

	if (c->plan[CONV_WEIGHTS] != NULL) {
		bytes += weights_bytes(t);
		sums = t->op->bias ? bias_scratch(cuda_of(t), &t->out) : 0;
		bytes = sums > bytes ? sums : bytes;
	}
	return bytes;
}

/* ---- work ---- */

void
weights_turn(struct cuda *c, int kernel, size_t out, size_t in, unsigned taps,
    const void *from, void *to)
{
	size_t plain = out * in * taps * sizeof(float);
	size_t turned = out * in * taps * cuda_size(c->type);
	struct weights a = { .from = from, .to = to, .in = (unsigned)in,
		.taps = taps };
	struct launch k;

	a.some = WEIGHTS / a.taps < a.in ? WEIGHTS / a.taps : a.in;
	a.pieces = a.some > 0 ? cuda_pieces(a.in, a.some) :
	    cuda_pieces((size_t)a.in * a.taps, THREADS);
	k = CUDA_KERNEL(c, kernel, (unsigned)out * a.pieces, 1, a);
	cuda_reads(&k, from, kernel == GPU_WEIGHTS_KEEP ? plain : turned);
	cuda_writes(&k, to, kernel == GPU_WEIGHTS_KEEP ? turned : plain);
	cuda_launch(c, &k);
}

/* Between floats in the order of the graph and what plans want; ${kernel} says
 * which way. */
static void
turn(struct task *t, int kernel, const void *from, void *to)
{
	weights_turn(cuda_of(t), kernel, (size_t)t->out.c,
	    (size_t)(t->in[0].c / t->op->groups), conv_taps(t->op), from, to);
}

static void
run(struct task *t, enum conv_pass pass, const void *x, void *w,
    const void *y)
{
	struct cuda *c = cuda_of(t);
	const struct conv *v = t->priv;

	c->driver->call->conv(c->driver, c->stream, v->plan[pass], (void *)x,
	    w, (void *)y, t->scratch);
}

static void
forward(struct task *t)
{
	void *w = t->repeats ? t->kept : t->saved;

	if (t->renew || !t->repeats)
		turn(t, GPU_WEIGHTS_KEEP, t->w[0], w);
	run(t, CONV_FORWARD, t->x[0], w, t->y);
	if (t->op->bias)
		bias_run(cuda_of(t), t->y, &t->out, t->w[1]);
}

static void
backward(struct task *t)
{
	void *dw = (char *)t->scratch + gradient_at(t);

	if (t->dx[0] != NULL)
		run(t, CONV_DATA, t->dx[0], t->repeats ? t->kept : t->saved,
		    t->dy);
	if (!t->wants_dw)
		return;
	run(t, CONV_WEIGHTS, t->x[0], dw, t->dy);
	turn(t, GPU_WEIGHTS_RETURN, dw, t->dw[0]);
	if (t->op->bias)
		bias_gradient(cuda_of(t), t->dw[1], t->dy, &t->out,
		    t->scratch);
}

const struct op_impl cuda_conv = { .reads = READS_X_DW, .prepare = prepare,
	.release = release, .saved = saved, .scratch = scratch, .kept = kept,
	.forward = forward, .backward = backward, .describe = describe };
