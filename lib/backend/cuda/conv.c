/*
 * Convolutions by plans of the driver.  A kernel of one frame is a convolution
 * of n t images.  A kernel (t, 1, 1) is a convolution of images, too: their
 * rows are frames, and their columns are the pixels of a frame.  cuDNN has
 * better plans for images than for volumes.
 *
 * Weights stay packed while they are unchanged (packing.c).  Their gradient is
 * in the same layout and type.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/conv.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"
#include "base/mem.h"
#include "base/number.h"

enum { ALIGN = 256, PASSES = 3 };

struct cuda_conv {
	struct packing packing;		/* first */
	struct conv_plan *plan[PASSES];	/* by enum conv_pass; NULL: not run */
	size_t workspace;		/* largest of the passes */
};

struct packed_shape
conv_packed(const struct task *t)
{
	int groups = t->op->conv.groups, in = cuda_padded(t->in[0].c);

	if (depthwise_is(t->op, &t->in[0]))
		return (struct packed_shape){ 1, in, 1 };
	if (t->in[0].c % 8 != 0 || t->out.c % 8 != 0)
		groups = 1;
	return (struct packed_shape){ cuda_padded(t->out.c), in / groups,
		groups };
}

size_t
conv_weights_bytes(const struct task *t)
{
	struct packed_shape p = conv_packed(t);

	return round_up((size_t)p.out * (size_t)p.in * conv_taps(t->op) *
	    cuda_size(cuda_of(t)->type), ALIGN);
}

/* ---- plans ---- */

/* Return the shape of a pass: of images or volumes, by the rules above. */
static struct conv_shape
cuda_conv_shape_of(const struct task *t, enum conv_pass pass)
{
	const struct op *op = t->op;
	const struct dims *x = &t->in[0], *y = &t->out;
	int flat = op->k[0] == 1 && op->s[0] == 1 && op->p[0] == 0;
	int deep = !flat && op->k[1] == 1 && op->k[2] == 1 && op->s[1] == 1 &&
	    op->s[2] == 1 && op->p[1] == 0 && op->p[2] == 0;
	const int from[3] = { x->t, deep ? x->h * x->w : x->h, x->w };
	const int to[3] = { y->t, deep ? y->h * y->w : y->h, y->w };
	struct conv_shape s = { .pass = pass, .type = cuda_of(t)->type,
		.n = x->n, .in = cuda_padded(x->c), .out = cuda_padded(y->c),
		.groups = conv_packed(t).groups,
		.accumulate = pass == CONV_DATA && t->accumulate[0] };

	s.dims = flat || deep ? 2 : 3;
	if (flat)
		s.n *= x->t;
	for (int i = 0; i < s.dims; i++) {
		int axis = i + flat;

		s.from[i] = from[axis];
		s.to[i] = to[axis];
		s.kernel[i] = op->k[axis];
		s.stride[i] = op->s[axis];
		s.pad[i] = op->p[axis];
	}
	return s;
}

void
conv_release(struct task *t)
{
	struct driver *d = cuda_of(t)->driver;
	struct cuda_conv *c = t->priv;

	for (int i = 0; c != NULL && i < PASSES; i++)
		if (c->plan[i] != NULL)
			d->call->conv_free(d, c->plan[i]);
	if (c != NULL)
		free(c->packing.member);
	free(c);
	t->priv = NULL;
}

/* Make the plan of a pass.  Return -1 after a message if there is none. */
static int
cuda_conv_make_plan(struct task *t, enum conv_pass pass)
{
	struct driver *d = cuda_of(t)->driver;
	struct conv_shape s = cuda_conv_shape_of(t, pass);
	struct cuda_conv *c = t->priv;
	size_t bytes;

	if ((c->plan[pass] = d->call->conv_new(d, &s)) == NULL)
		return -1;
	bytes = d->call->conv_workspace(d, c->plan[pass]);
	c->workspace = bytes > c->workspace ? bytes : c->workspace;
	return 0;
}

struct packing *
conv_packing(struct task *t)
{
	if (depthwise_is(t->op, &t->in[0]))
		t->impl = &cuda_depthwise;
	if (t->priv == NULL)
		t->priv = xcalloc(1, sizeof(struct cuda_conv));
	return t->priv;
}

static int
cuda_conv_prepare(struct task *t)
{
	const int wanted[PASSES] = { [CONV_FORWARD] = 1,
		[CONV_DATA] = !t->no_grad && t->training &&
		t->needs_input_grad[0],
		[CONV_WEIGHTS] = !t->no_grad && t->training &&
		t->needs_weight_grad };

	conv_packing(t);
	if (t->impl == &cuda_depthwise)
		return 0;
	for (int i = 0; i < PASSES; i++)
		if (wanted[i] &&
		    cuda_conv_make_plan(t, (enum conv_pass)i) != 0) {
			conv_release(t);
			return -1;
		}
	return 0;
}

static void
cuda_conv_describe(const struct task *t, char *text, size_t size)
{
	struct driver *d = cuda_of(t)->driver;
	const struct cuda_conv *c = t->priv;

	d->call->conv_describe(d, c->plan[CONV_FORWARD], text, size);
}

/*
 * ---- memory ----
 *
 * Kept: packed weights, and their gradient.  Scratch: the workspace, or the
 * partial sums of a bias.
 */

/*
 * Return the bytes of packed weights and of their gradient.  The gradient is
 * converted later (packing.c), so it cannot be in scratch memory.
 */
static size_t
cuda_conv_kept(const struct task *t)
{
	const struct cuda_conv *c = t->priv;

	return conv_weights_bytes(t) * (c->plan[CONV_WEIGHTS] != NULL ? 2 :
	    1);
}

static void *
cuda_conv_gradient_of(const struct task *t)
{
	return (char *)t->packed_weights + conv_weights_bytes(t);
}

static size_t
cuda_conv_scratch(const struct task *t)
{
	const struct cuda_conv *c = t->priv;
	size_t sums = c->plan[CONV_WEIGHTS] != NULL && t->op->conv.bias ?
	    rows_bias_scratch(cuda_of(t), &t->out) : 0;

	return sums > c->workspace ? sums : c->workspace;
}

/* ---- work ---- */

static void
cuda_conv_run(struct task *t, enum conv_pass pass, const void *x, void *w,
    const void *y)
{
	struct cuda *c = cuda_of(t);
	const struct cuda_conv *v = t->priv;

	c->driver->call->conv(c->driver, c->stream, v->plan[pass],
	    (void *[]){ (void *)x, w, (void *)y, t->scratch });
}

static void
cuda_conv_forward(struct task *t)
{
	packing_renew(t);
	cuda_conv_run(t, CONV_FORWARD, t->x[0], t->packed_weights, t->y);
	if (t->op->conv.bias)
		rows_bias_run(cuda_of(t), t->y, &t->out, t->w[1]);
}

static void
cuda_conv_backward(struct task *t)
{
	void *dw = cuda_conv_gradient_of(t);

	if (t->dx[0] != NULL)
		cuda_conv_run(t, CONV_DATA, t->dx[0], t->packed_weights, t->dy);
	if (!t->needs_weight_grad)
		return;
	cuda_conv_run(t, CONV_WEIGHTS, t->x[0], dw, t->dy);
	packing_return(t, dw);
	if (t->op->conv.bias)
		rows_bias_gradient(cuda_of(t), t->dw[1], t->dy, &t->out,
		    t->scratch);
}

const struct op_impl cuda_conv = { .reads = READS_X_DW,
    .prepare = cuda_conv_prepare,
	.release = conv_release,
	.scratch = cuda_conv_scratch, .packed_bytes = cuda_conv_kept,
	.forward = cuda_conv_forward, .backward = cuda_conv_backward,
	.describe = cuda_conv_describe };
