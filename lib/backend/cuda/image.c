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

/* Return the blocks of ${m} for images of shape ${d}. */
static unsigned
cuda_image_blocks(const struct image_grid *m, const struct dims *d)
{
	return (unsigned)(d->n * d->t) * m->pieces;
}

/* ---- shift ---- */

static void
cuda_run_shift(struct task *t, int back)
{
	struct cuda *c = cuda_of(t);
	const struct flow f = cuda_flow_of(t, back);
	struct shift a = { .image = cuda_image_of(c, f.out, FLAT),
		.from = f.from, .to = f.to, .t = (unsigned)t->out.t,
		.c = (unsigned)cuda_padded(t->out.c),
		.fold = (unsigned)(t->out.c / t->op->shift.fold),
		.past = t->op->shift.past, .sign = back ? -1 : 1,
		.accumulate = f.accumulate };
	struct launch k = CUDA_KERNEL(c, GPU_SHIFT,
	    cuda_image_blocks(&a.image, f.out), 1, a);

	cuda_flow_launch(c, &k, &f);
}

CUDA_PASSES(shift, .reads = 0);

/* ---- frames ---- */

static void
cuda_run_frames(struct task *t, int back)
{
	struct cuda *c = cuda_of(t);
	const struct flow f = cuda_flow_of(t, back);
	struct frames a = { .image = cuda_image_of(c, f.out, FLAT),
		.from = f.from, .to = f.to, .few = (unsigned)t->out.t,
		.all = (unsigned)t->in[0].t, .step = t->op->frames.step,
		.first = t->op->frames.first, .spread = t->op->frames.spread,
		.back = back, .accumulate = f.accumulate };
	struct launch k = CUDA_KERNEL(c, GPU_FRAMES,
	    cuda_image_blocks(&a.image, f.out), 1, a);

	cuda_flow_launch(c, &k, &f);
}

CUDA_PASSES(frames, .reads = 0);

/* ---- windows ---- */

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

/* Run the maximum or the average over windows. */
static void
cuda_run_pool(struct task *t, int back, int max)
{
	static const enum gpu_kernel kernel[2][2] = {
		{ GPU_AVGPOOL, GPU_AVGPOOL_BACK },
		{ GPU_MAXPOOL, GPU_MAXPOOL_BACK } };
	struct cuda *c = cuda_of(t);
	const struct flow f = cuda_flow_of(t, back);
	struct pooling a = { .image = cuda_image_of(c, f.out, 1),
		.window = cuda_window_of(t->op, &t->in[0], &t->out),
		.c = (unsigned)cuda_padded(f.out->c),
		.from = f.from, .to = f.to, .which = max ? t->saved : NULL,
		.large = cuda_image_is_large(t->op),
		.cut = !max && t->op->avgpool.exclude_pad,
		.accumulate = f.accumulate };
	struct launch k = CUDA_KERNEL(c, kernel[max][back],
	    cuda_image_blocks(&a.image, f.out), 1, a);

	if (back)
		cuda_reads(&k, a.which, cuda_maxpool_saved(t));
	else
		cuda_writes(&k, a.which, cuda_maxpool_saved(t));
	cuda_flow_launch(c, &k, &f);
}

static void
cuda_run_maxpool(struct task *t, int back)
{
	cuda_run_pool(t, back, 1);
}

CUDA_PASSES(maxpool, .saved = cuda_maxpool_saved);

/* ---- average pooling, over windows or whole axes ---- */

static size_t
cuda_avgpool_scratch(const struct task *t)
{
	struct matrix m = rows_matrix_of(&t->in[0], t->op->avgpool.axes);

	return t->op->avgpool.axes ? rows_sum_scratch(cuda_of(t), &m) : 0;
}

static void
cuda_run_avgpool(struct task *t, int back)
{
	struct matrix m = rows_matrix_of(&t->in[0], t->op->avgpool.axes);
	double share = (double)dims_count(&t->out) /
	    (double)dims_count(&t->in[0]);

	if (!t->op->avgpool.axes)
		cuda_run_pool(t, back, 0);
	else if (back)
		rows_broadcast_run(cuda_of(t), &m, (struct broadcast){
			.by = t->dy, .to = t->dx[0], .share = (float)share,
			.accumulate = t->accumulate[0] });
	else
		rows_sum_run(cuda_of(t), &(struct sum){ .matrix = m,
			.x = t->x[0], .to = t->y, .share = share }, t->scratch);
}

CUDA_PASSES(avgpool, .scratch = cuda_avgpool_scratch);
