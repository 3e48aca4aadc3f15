/*
 * Stems: convolutions of pixels with a stride of 2 in rows and columns.  They
 * run as convolutions of stride 1 over patches of 2x2 pixels, whose channels
 * are concatenated ("space to depth").  With ceil(K / 2) patches a,
 *
 *	y[i] = sum of w[2 a + r] x[2 (i + a) + r - p], r < 2
 *
 * along rows, and in the same way along columns, where taps beyond K are 0.
 * The padding is part of the patches: it is larger before the image than
 * behind, and a convolution of cuDNN has the same padding at both ends.
 *
 * Tensor cores take channels in groups of eight, and a pixel has three.  The
 * heuristics of cuDNN 9.19 were asked for a 7x7 stem of 512 frames of 224
 * pixels in bf16 on an H200.  For the weight gradient they suggest engine 0,
 * which runs any convolution without tensor cores, and they have no fused
 * pattern with sums.  For 4x4 patches they suggest engines 62 and 49, and have
 * the pattern.  Each output is a sum of 256 products, instead of 147, or of 392
 * with channels padded to eight.  Neither has been timed.
 *
 * The patches of a frame of 224 pixels take 0.42 MB, its pixels 0.30 MB.  The
 * pixels need not stay for the backward pass, which reads the patches.
 *
 * In fp32 no tensor cores are used, and stems run as plain convolutions.
 */
#include "backend/cuda/conv.h"
#include "backend/cuda/kernels.h"
#include "base/number.h"

/*
 * PIXEL: channels of a pixel at most.  Channels of a patch are a multiple of
 * EIGHT.
 */
enum { PIXEL = 4, EIGHT = 8 };

int
stem_is(const struct task *t)
{
	const struct op *op = t->op;

	return cuda_of(t)->type != GPU_F32 && op->groups == 1 &&
	    t->in[0].c <= PIXEL && op->s[1] == 2 && op->s[2] == 2 &&
	    !t->needs_input_grad[0];
}

/* Return the patches of a window along rows (axis 0) or columns. */
static int
cuda_stem_window(const struct task *t, int axis)
{
	return (t->op->k[1 + axis] + 1) / 2;
}

/* Return the patches of an image along rows or columns. */
static int
cuda_stem_extent(const struct task *t, int axis)
{
	return (axis == 0 ? t->out.h : t->out.w) + cuda_stem_window(t, axis) -
	    1;
}

/* Return the channels of a patch. */
static int
cuda_stem_depth(const struct task *t)
{
	return (int)round_up(4 * (size_t)t->in[0].c, EIGHT);
}

size_t
stem_weights(const struct task *t)
{
	return (size_t)t->out.c * (size_t)t->op->k[0] *
	    (size_t)cuda_stem_window(t, 0) * (size_t)cuda_stem_window(t, 1) *
	    (size_t)cuda_stem_depth(t);
}

void
stem_shape(const struct task *t, struct conv_shape *s)
{
	s->in = cuda_stem_depth(t);
	for (int i = 0; i < 2; i++) {
		int at = s->dims - 2 + i;

		s->from[at] = cuda_stem_extent(t, i);
		s->kernel[at] = cuda_stem_window(t, i);
		s->stride[at] = 1;
		s->pad[at] = 0;
	}
}

static struct dims
cuda_stem_patches(const struct task *t)
{
	return (struct dims){ t->in[0].n, t->in[0].t, cuda_stem_extent(t, 0),
		cuda_stem_extent(t, 1), cuda_stem_depth(t) };
}

size_t
stem_bytes(const struct task *t)
{
	const struct dims d = cuda_stem_patches(t);

	return cuda_bytes(cuda_of(t), &d);
}

void
stem_make_patches(struct task *t, void *to)
{
	struct cuda *c = cuda_of(t);
	const struct dims d = cuda_stem_patches(t);
	const int lanes = 16 / (int)cuda_size(c->type);
	struct stem a = { .from = t->x[0], .to = to, .c = (unsigned)t->in[0].c,
		.depth = (unsigned)d.c, .width = (unsigned)d.w,
		.in = { t->in[0].h, t->in[0].w },
		.pad = { t->op->p[1], t->op->p[2] } };
	struct launch k;

	a.image.plane = (unsigned)d.h * (unsigned)d.w * (unsigned)(d.c / lanes);
	a.image.pieces = cuda_pieces(a.image.plane, THREADS);
	k = CUDA_KERNEL(c, GPU_STEM, (unsigned)d.n * (unsigned)d.t *
	    a.image.pieces, 1, a);
	cuda_reads(&k, t->x[0], cuda_bytes(c, &t->in[0]));
	cuda_writes(&k, to, stem_bytes(t));
	cuda_launch(c, &k);
}

void
stem_convert_weights(struct task *t, int back, const void *from, void *to)
{
	struct cuda *c = cuda_of(t);
	size_t n = stem_weights(t), stored = n * cuda_size(c->type);
	size_t plain = (size_t)t->out.c * (size_t)t->in[0].c *
	    conv_taps(t->op) * sizeof(float);
	struct stem_weights a = { .from = from, .to = to, .n = n,
		.in = (unsigned)t->in[0].c,
		.depth = (unsigned)cuda_stem_depth(t),
		.k = { t->op->k[0], t->op->k[1], t->op->k[2] },
		.patches = { cuda_stem_window(t, 0), cuda_stem_window(t, 1) } };
	struct launch k = CUDA_KERNEL(c, back ? GPU_STEM_RETURN :
	    GPU_STEM_KEEP, cuda_pieces(n, THREADS), 1, a);

	cuda_reads(&k, from, back ? stored : plain);
	cuda_writes(&k, to, back ? plain : stored);
	cuda_launch(c, &k);
}
