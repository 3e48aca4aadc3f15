/*
 * Depthwise convolutions, by our own kernels.  For volumes cuDNN 9 has only its
 * engine 0, which runs any convolution without tensor cores, and also for many
 * depthwise convolutions of images.  Which is faster for images has not been
 * measured.
 */
#include <stdio.h>

#include "backend/cuda/conv.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"

/*
 * Blocks of the weight gradient: eight for each of 132 multiprocessors.  The
 * order of its sums depends on BLOCKS and on ITEMS, the least number of strips
 * per thread where there are enough.
 */
enum { BLOCKS = 1056, ITEMS = 8, ACROSS = 32 };

int
depthwise_is(const struct op *op, const struct dims *in)
{
	return op->conv.groups == in->c && op->out == in->c && in->c > 1;
}

/* ---- memory: partial sums ---- */

/* Split the weight gradient into ${*parts} partial sums. */
static struct depth_sums
cuda_depthwise_sums_of(const struct task *t, unsigned *parts)
{
	const struct op *op = t->op;
	struct depth_sums a =
	    { .window = cuda_window_of(op, &t->in[0], &t->out),
		.c = (unsigned)cuda_padded(t->out.c),
		.channels = (unsigned)t->out.c };
	unsigned vectors = a.c / cuda_lanes(cuda_of(t)->type);
	size_t largest;

	a.nine = op->k[1] == 3 && op->k[2] == 3 && op->s[2] <= 2;
	a.sets = conv_taps(op) / (a.nine ? 9 : 1);
	a.tiles = cuda_pieces(vectors, ACROSS);
	a.across = (int)cuda_pieces(vectors, a.tiles);
	a.strips = cuda_pieces((size_t)t->out.w, DEPTH_STRIP);
	a.items = (unsigned)(t->out.n * t->out.t * t->out.h) * a.strips;
	largest = cuda_pieces(a.items, (size_t)(DEPTH_THREADS / a.across) *
	    ITEMS);
	*parts = BLOCKS / (unsigned)cuda_min(BLOCKS,
	    a.tiles * a.sets);
	a.per = cuda_pieces(a.items, cuda_min(*parts, largest));
	*parts = cuda_pieces(a.items, a.per);
	return a;
}

static size_t
cuda_depthwise_parts_bytes(const struct task *t)
{
	unsigned parts;

	cuda_depthwise_sums_of(t, &parts);
	return (size_t)parts * (size_t)t->out.c * conv_taps(t->op) *
	    sizeof(double);
}

static size_t
cuda_depthwise_scratch(const struct task *t)
{
	size_t sums = t->needs_weight_grad && t->op->conv.bias ?
	    rows_bias_scratch(cuda_of(t), &t->out) : 0;
	size_t bytes = t->needs_weight_grad ? cuda_depthwise_parts_bytes(t) : 0;

	return sums > bytes ? sums : bytes;
}

/* ---- work ---- */

/*
 * Launch ${kernel} for each position of ${over}, whose rows are split into
 * strips of ${strip}.
 */
static void
cuda_depthwise_run(struct task *t, int kernel, struct depth a,
    const struct dims *over, int strip, const struct dims *from)
{
	struct cuda *c = cuda_of(t);
	int strips = (int)cuda_pieces((size_t)over->w, (size_t)strip);
	struct launch k;

	a.c = (unsigned)cuda_padded(over->c);
	a.w = t->packed_weights;
	a.positions[0] = over->t;
	a.positions[1] = over->h;
	a.positions[2] = strips;
	a.image.plane = (unsigned)(over->h * strips) * (a.c /
	    cuda_lanes(c->type));
	a.image.pieces = cuda_pieces(a.image.plane, THREADS);
	k = CUDA_KERNEL(c, kernel, (unsigned)(over->n * over->t) *
	    a.image.pieces, 1, a);
	cuda_reads(&k, a.x, cuda_bytes(c, from));
	cuda_reads(&k, a.w, a.c * conv_taps(t->op) * cuda_size(c->type));
	cuda_touches(&k, a.y, cuda_bytes(c, over), a.accumulate);
	cuda_launch(c, &k);
}

static void
cuda_depthwise_forward(struct task *t)
{
	struct depth a = { .window = cuda_window_of(t->op, &t->in[0],
	    &t->out),
		.x = t->x[0], .y = t->y };

	packing_renew(t);
	cuda_depthwise_run(t, GPU_DEPTH, a, &t->out, DEPTH_STRIP, &t->in[0]);
	if (t->op->conv.bias)
		rows_bias_run(cuda_of(t), t->y, &t->out, t->w[1]);
}

/*
 * Input gradient.  With stride 1 it is a convolution of dy with the flipped
 * weights, so the strip kernel of the forward pass computes it.
 */
static void
cuda_depthwise_run_data(struct task *t)
{
	const struct op *op = t->op;
	struct depth a = { .x = t->dy, .y = t->dx[0],
		.accumulate = t->accumulate[0] };

	if (op->s[0] != 1 || op->s[1] != 1 || op->s[2] != 1) {
		a.window = cuda_window_of(op, &t->in[0], &t->out);
		cuda_depthwise_run(t, GPU_DEPTH_BACK, a, &t->in[0], 1, &t->out);
		return;
	}
	a.window = cuda_window_of(op, &t->out, &t->in[0]);
	a.turned = 1;
	for (int i = 0; i < 3; i++)
		a.window.p[i] = op->k[i] - 1 - op->p[i];
	cuda_depthwise_run(t, GPU_DEPTH, a, &t->in[0], DEPTH_STRIP, &t->out);
}

static void
cuda_depthwise_run_weights(struct task *t)
{
	struct cuda *c = cuda_of(t);
	unsigned parts, taps = conv_taps(t->op);
	struct depth_sums a = cuda_depthwise_sums_of(t, &parts);
	struct launch k;

	a.x = t->x[0];
	a.dy = t->dy;
	a.part = t->scratch;
	k = CUDA_KERNEL(c, GPU_DEPTH_SUMS, parts * a.tiles * a.sets, 1, a);
	cuda_reads(&k, a.x, cuda_bytes(c, &t->in[0]));
	cuda_reads(&k, a.dy, cuda_bytes(c, &t->out));
	cuda_writes(&k, a.part, cuda_depthwise_parts_bytes(t));
	cuda_launch(c, &k);
	rows_total_run(c, 1, (struct total){ .part = a.part, .to = t->dw[0],
		.entries = parts, .period = a.channels * taps, .share = 1,
		.floats = 1 });
}

static void
cuda_depthwise_backward(struct task *t)
{
	if (t->dx[0] != NULL)
		cuda_depthwise_run_data(t);
	if (!t->needs_weight_grad)
		return;
	cuda_depthwise_run_weights(t);
	if (t->op->conv.bias)
		rows_bias_gradient(cuda_of(t), t->dw[1], t->dy, &t->out,
		    t->scratch);
}

static void
cuda_depthwise_describe(const struct task *t, char *text, size_t size)
{
	(void)t;
	snprintf(text, size, "depthwise");
}

const struct op_impl cuda_depthwise = { .reads = READS_X_DW,
	.release = conv_release,
	.scratch = cuda_depthwise_scratch,
	.packed_bytes = conv_weights_bytes,
	.forward = cuda_depthwise_forward, .backward = cuda_depthwise_backward,
	.describe = cuda_depthwise_describe };
