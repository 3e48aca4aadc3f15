/* Operators of images: frames that move, and windows. */
#include <assert.h>

#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"

/*
 * A walk over images of ${size} numbers, by whole vectors if ${unit} numbers,
 * which are not to be parted, and the image are a multiple of one; each thread
 * takes ${flat} of them.
 */
static struct image
image_of(const struct cuda *c, size_t size, size_t unit, unsigned flat)
{
	size_t lanes = cuda_lanes(c->type);
	struct image m = { .single = unit % lanes != 0 || size % lanes != 0 };
	size_t plane = m.single ? size : size / lanes;

	assert(plane < (size_t)1 << 31);
	m.plane = (unsigned)plane;
	m.pieces = cuda_pieces(plane, THREADS * flat);
	return m;
}

static size_t
image_size(const struct dims *d)
{
	return (size_t)d->h * (size_t)d->w * (size_t)d->c;
}

static unsigned
images(const struct dims *d)
{
	return (unsigned)d->n * (unsigned)d->t;
}

/* ---- shift ---- */

static void
run_shift(struct task *t, const void *from, void *to, int sign,
    int accumulate)
{
	struct cuda *c = cuda_of(t);
	unsigned fold = (unsigned)(t->out.c / t->op->fold);
	struct shift a = { .image = image_of(c, image_size(&t->out), fold, FLAT),
		.from = from, .to = to, .t = (unsigned)t->out.t,
		.c = (unsigned)t->out.c, .fold = fold, .past = t->op->past,
		.sign = sign, .accumulate = accumulate };
	struct launch k;

	/* Channels that stay must not share a vector with others, either. */
	if (t->out.c % (int)cuda_lanes(c->type) != 0)
		a.image = image_of(c, image_size(&t->out), 1, FLAT);
	k = CUDA_KERNEL(c, GPU_SHIFT, images(&t->out) * a.image.pieces, 1, a);
	cuda_reads(&k, from, cuda_bytes(c, &t->out));
	cuda_touches(&k, to, cuda_bytes(c, &t->out), accumulate);
	cuda_launch(c, &k);
}

static void
shift_forward(struct task *t)
{
	run_shift(t, t->x[0], t->y, 1, 0);
}

static void
shift_backward(struct task *t)
{
	if (t->dx[0] != NULL)
		run_shift(t, t->dy, t->dx[0], -1, t->accumulate[0]);
}

const struct op_impl cuda_shift = { .forward = shift_forward,
	.backward = shift_backward };

/* ---- frames ---- */

static void
run_frames(struct task *t, const void *from, void *to, int back)
{
	struct cuda *c = cuda_of(t);
	const struct dims *in = back ? &t->out : &t->in[0];
	const struct dims *out = back ? &t->in[0] : &t->out;
	size_t size = image_size(out);
	struct frames a = { .image = image_of(c, size, size, FLAT),
		.from = from, .to = to, .few = (unsigned)t->out.t,
		.all = (unsigned)t->in[0].t, .step = t->op->step,
		.first = t->op->first, .spread = t->op->spread, .back = back,
		.accumulate = back && t->accumulate[0] };
	struct launch k = CUDA_KERNEL(c, GPU_FRAMES, images(out) *
	    a.image.pieces, 1, a);

	cuda_reads(&k, from, cuda_bytes(c, in));
	cuda_touches(&k, to, cuda_bytes(c, out), a.accumulate);
	cuda_launch(c, &k);
}

static void
frames_forward(struct task *t)
{
	run_frames(t, t->x[0], t->y, 0);
}

static void
frames_backward(struct task *t)
{
	if (t->dx[0] != NULL)
		run_frames(t, t->dy, t->dx[0], 1);
}

const struct op_impl cuda_frames = { .forward = frames_forward,
	.backward = frames_backward };

/* ---- windows ---- */

static struct window
window_of(const struct task *t)
{
	const struct op *op = t->op;

	return (struct window){ { t->in[0].t, t->in[0].h, t->in[0].w },
		{ t->out.t, t->out.h, t->out.w },
		{ op->k[0], op->k[1], op->k[2] },
		{ op->s[0], op->s[1], op->s[2] },
		{ op->p[0], op->p[1], op->p[2] } };
}

/* Does the number of a tap not fit a byte? */
static int
is_large(const struct op *op)
{
	return op->k[0] * op->k[1] * op->k[2] > 256;
}

static size_t
maxpool_saved(const struct task *t)
{
	return dims_count(&t->out) * (is_large(t->op) ? 4 : 1);
}

static void
run_maxpool(struct task *t, const void *from, void *to, int back)
{
	struct cuda *c = cuda_of(t);
	const struct dims *in = back ? &t->out : &t->in[0];
	const struct dims *out = back ? &t->in[0] : &t->out;
	struct maxpool a = { .image = image_of(c, image_size(out),
	    (size_t)out->c, 1), .window = window_of(t), .c = (unsigned)out->c,
		.from = from, .to = to, .which = t->saved,
		.large = is_large(t->op),
		.accumulate = back && t->accumulate[0] };
	struct launch k = CUDA_KERNEL(c, back ? GPU_MAXPOOL_BACK : GPU_MAXPOOL,
	    images(out) * a.image.pieces, 1, a);

	cuda_reads(&k, from, cuda_bytes(c, in));
	if (back)
		cuda_reads(&k, t->saved, maxpool_saved(t));
	else
		cuda_writes(&k, t->saved, maxpool_saved(t));
	cuda_touches(&k, to, cuda_bytes(c, out), a.accumulate);
	cuda_launch(c, &k);
}

static void
maxpool_forward(struct task *t)
{
	run_maxpool(t, t->x[0], t->y, 0);
}

static void
maxpool_backward(struct task *t)
{
	if (t->dx[0] != NULL)
		run_maxpool(t, t->dy, t->dx[0], 1);
}

const struct op_impl cuda_maxpool = { .forward = maxpool_forward,
	.backward = maxpool_backward, .saved = maxpool_saved };

static void
run_avgpool(struct task *t, const void *from, void *to, int back)
{
	struct cuda *c = cuda_of(t);
	const struct dims *in = back ? &t->out : &t->in[0];
	const struct dims *out = back ? &t->in[0] : &t->out;
	struct avgpool a = { .image = image_of(c, image_size(out),
	    (size_t)out->c, 1), .window = window_of(t), .c = (unsigned)out->c,
		.from = from, .to = to, .cut = t->op->cut,
		.accumulate = back && t->accumulate[0] };
	struct launch k = CUDA_KERNEL(c, back ? GPU_AVGPOOL_BACK : GPU_AVGPOOL,
	    images(out) * a.image.pieces, 1, a);

	cuda_reads(&k, from, cuda_bytes(c, in));
	cuda_touches(&k, to, cuda_bytes(c, out), a.accumulate);
	cuda_launch(c, &k);
}

/* ---- the mean over windows, or over whole axes ---- */

static size_t
avgpool_scratch(const struct task *t)
{
	struct matrix m = matrix_of(&t->in[0], t->op->over);

	return t->op->over ? sum_scratch(cuda_of(t), &m) : 0;
}

static double
avgpool_share(const struct task *t)
{
	return (double)dims_count(&t->out) / (double)dims_count(&t->in[0]);
}

static void
avgpool_forward(struct task *t)
{
	if (!t->op->over) {
		run_avgpool(t, t->x[0], t->y, 0);
		return;
	}
	sum_run(cuda_of(t), &(struct sum){ .matrix = matrix_of(&t->in[0],
	    t->op->over), .x = t->x[0], .to = t->y,
		.share = avgpool_share(t) }, t->scratch);
}

static void
avgpool_backward(struct task *t)
{
	struct matrix m = matrix_of(&t->in[0], t->op->over);

	if (t->dx[0] == NULL)
		return;
	if (t->op->over)
		spread_run(cuda_of(t), &m, NULL, t->dy, avgpool_share(t),
		    t->dx[0], t->accumulate[0]);
	else
		run_avgpool(t, t->dy, t->dx[0], 1);
}

const struct op_impl cuda_avgpool = { .forward = avgpool_forward,
	.backward = avgpool_backward, .scratch = avgpool_scratch };
