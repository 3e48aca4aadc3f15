/* Operators on images: temporal shift, selection of frames, and pools. */
#include <assert.h>

#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"

/* Plan the iteration over images of shape ${d}, ${flat} vectors per thread. */
static struct image_grid
cuda_image_of(const struct cuda *c, const struct dims *d, unsigned flat)
{
	size_t plane = (size_t)d->h * (size_t)d->w *
	    (size_t)cuda_padded(d->c) / cuda_lanes(c->type);

	assert(plane < (size_t)1 << 31);
	return (struct image_grid){ cuda_pieces(plane, THREADS * flat),
		(unsigned)plane };
}

static unsigned
cuda_image_count(const struct dims *d)
{
	return (unsigned)d->n * (unsigned)d->t;
}

/* ---- shift ---- */

static void
cuda_run_shift(struct task *t, const void *from, void *to, int sign,
    int accumulate)
{
	struct cuda *c = cuda_of(t);
	struct shift a = { .image = cuda_image_of(c, &t->out, FLAT),
		.from = from, .to = to, .t = (unsigned)t->out.t,
		.c = (unsigned)cuda_padded(t->out.c),
		.fold = (unsigned)(t->out.c / t->op->shift.fold),
		.past = t->op->shift.past, .sign = sign,
		.accumulate = accumulate };
	struct launch k = CUDA_KERNEL(c, GPU_SHIFT,
	    cuda_image_count(&t->out) * a.image.pieces, 1, a);

	cuda_reads(&k, from, cuda_bytes(c, &t->out));
	cuda_touches(&k, to, cuda_bytes(c, &t->out), accumulate);
	cuda_launch(c, &k);
}

static void
cuda_shift_forward(struct task *t)
{
	cuda_run_shift(t, t->x[0], t->y, 1, 0);
}

static void
cuda_shift_backward(struct task *t)
{
	if (t->dx[0] != NULL)
		cuda_run_shift(t, t->dy, t->dx[0], -1, t->accumulate[0]);
}

const struct op_impl cuda_shift = { .forward = cuda_shift_forward,
	.backward = cuda_shift_backward };

/* ---- frames ---- */

static void
cuda_run_frames(struct task *t, const void *from, void *to, int back)
{
	struct cuda *c = cuda_of(t);
	const struct dims *in = back ? &t->out : &t->in[0];
	const struct dims *out = back ? &t->in[0] : &t->out;
	struct frames a = { .image = cuda_image_of(c, out, FLAT),
		.from = from, .to = to, .few = (unsigned)t->out.t,
		.all = (unsigned)t->in[0].t, .step = t->op->frames.step,
		.first = t->op->frames.first, .spread = t->op->frames.spread,
		.back = back,
		.accumulate = back && t->accumulate[0] };
	struct launch k = CUDA_KERNEL(c, GPU_FRAMES, cuda_image_count(out) *
	    a.image.pieces, 1, a);

	cuda_reads(&k, from, cuda_bytes(c, in));
	cuda_touches(&k, to, cuda_bytes(c, out), a.accumulate);
	cuda_launch(c, &k);
}

static void
cuda_frames_forward(struct task *t)
{
	cuda_run_frames(t, t->x[0], t->y, 0);
}

static void
cuda_frames_backward(struct task *t)
{
	if (t->dx[0] != NULL)
		cuda_run_frames(t, t->dy, t->dx[0], 1);
}

const struct op_impl cuda_frames = { .forward = cuda_frames_forward,
	.backward = cuda_frames_backward };

/* ---- windows ---- */

static struct pool_window
cuda_image_window_of(const struct task *t)
{
	const struct op *op = t->op;

	return (struct pool_window){ { t->in[0].t, t->in[0].h, t->in[0].w },
		{ t->out.t, t->out.h, t->out.w },
		{ op->k[0], op->k[1], op->k[2] },
		{ op->s[0], op->s[1], op->s[2] },
		{ op->p[0], op->p[1], op->p[2] } };
}

/* Return 1 if a tap number does not fit in a byte. */
static int
cuda_image_is_large(const struct op *op)
{
	return op->k[0] * op->k[1] * op->k[2] > 256;
}

static size_t
cuda_maxpool_saved(const struct task *t)
{
	return cuda_count(&t->out) * (cuda_image_is_large(t->op) ? 4 : 1);
}

static void
cuda_run_maxpool(struct task *t, const void *from, void *to, int back)
{
	struct cuda *c = cuda_of(t);
	const struct dims *in = back ? &t->out : &t->in[0];
	const struct dims *out = back ? &t->in[0] : &t->out;
	struct maxpool a = { .image = cuda_image_of(c, out, 1),
		.window = cuda_image_window_of(t),
		.c = (unsigned)cuda_padded(out->c),
		.from = from, .to = to, .which = t->saved,
		.large = cuda_image_is_large(t->op),
		.accumulate = back && t->accumulate[0] };
	struct launch k = CUDA_KERNEL(c, back ? GPU_MAXPOOL_BACK : GPU_MAXPOOL,
	    cuda_image_count(out) * a.image.pieces, 1, a);

	cuda_reads(&k, from, cuda_bytes(c, in));
	if (back)
		cuda_reads(&k, t->saved, cuda_maxpool_saved(t));
	else
		cuda_writes(&k, t->saved, cuda_maxpool_saved(t));
	cuda_touches(&k, to, cuda_bytes(c, out), a.accumulate);
	cuda_launch(c, &k);
}

static void
cuda_maxpool_forward(struct task *t)
{
	cuda_run_maxpool(t, t->x[0], t->y, 0);
}

static void
cuda_maxpool_backward(struct task *t)
{
	if (t->dx[0] != NULL)
		cuda_run_maxpool(t, t->dy, t->dx[0], 1);
}

const struct op_impl cuda_maxpool = { .forward = cuda_maxpool_forward,
	.backward = cuda_maxpool_backward, .saved = cuda_maxpool_saved };

static void
cuda_run_avgpool(struct task *t, const void *from, void *to, int back)
{
	struct cuda *c = cuda_of(t);
	const struct dims *in = back ? &t->out : &t->in[0];
	const struct dims *out = back ? &t->in[0] : &t->out;
	struct avgpool a = { .image = cuda_image_of(c, out, 1),
		.window = cuda_image_window_of(t),
		.c = (unsigned)cuda_padded(out->c),
		.from = from, .to = to, .cut = t->op->avgpool.exclude_pad,
		.accumulate = back && t->accumulate[0] };
	struct launch k = CUDA_KERNEL(c, back ? GPU_AVGPOOL_BACK : GPU_AVGPOOL,
	    cuda_image_count(out) * a.image.pieces, 1, a);

	cuda_reads(&k, from, cuda_bytes(c, in));
	cuda_touches(&k, to, cuda_bytes(c, out), a.accumulate);
	cuda_launch(c, &k);
}

/* ---- average pooling, over windows or whole axes ---- */

static size_t
cuda_avgpool_scratch(const struct task *t)
{
	struct matrix m = rows_matrix_of(&t->in[0], t->op->avgpool.axes);

	return t->op->avgpool.axes ? rows_sum_scratch(cuda_of(t), &m) : 0;
}

static double
cuda_avgpool_share(const struct task *t)
{
	return (double)dims_count(&t->out) / (double)dims_count(&t->in[0]);
}

static void
cuda_avgpool_forward(struct task *t)
{
	if (!t->op->avgpool.axes) {
		cuda_run_avgpool(t, t->x[0], t->y, 0);
		return;
	}
	rows_sum_run(cuda_of(t),
	    &(struct sum){ .matrix = rows_matrix_of(&t->in[0],
	    t->op->avgpool.axes), .x = t->x[0], .to = t->y,
		.share = cuda_avgpool_share(t) }, t->scratch);
}

static void
cuda_avgpool_backward(struct task *t)
{
	struct matrix m = rows_matrix_of(&t->in[0], t->op->avgpool.axes);

	if (t->dx[0] == NULL)
		return;
	if (t->op->avgpool.axes)
		rows_broadcast_run(cuda_of(t), &m, (struct broadcast){
			.by = t->dy, .to = t->dx[0],
			.share = (float)cuda_avgpool_share(t),
			.accumulate = t->accumulate[0] });
	else
		cuda_run_avgpool(t, t->dy, t->dx[0], 1);
}

const struct op_impl cuda_avgpool = { .forward = cuda_avgpool_forward,
	.backward = cuda_avgpool_backward, .scratch = cuda_avgpool_scratch };
