/*
 * Stems: convolutions of pixels with a stride of 2 in rows and columns, done as
 * others of stride 1 over patches of 2x2 pixels, whose channels lie beside one
 * another ("space to depth").  With k of ceil(K / 2) patches,
 *
 *	y[i] = sum of w[2 a + r] x[2 (i + a) + r - p], a < k, r < 2
 *
 * along rows, and columns alike, where taps beyond K are 0.  Padding is a part of
 * the patches: more of it is wanted before than behind, and a convolution has the
 * same at both ends.
 *
 * Tensor cores take channels by eight, and a pixel has three.  Of a 7x7 of 512 frames
 * of 224 cuDNN 9.19 advises for an H200 to make the gradient of the weights by
 * engine 0 in bf16, which does any convolution without tensor cores, and it has no
 * pattern with sums; of 4x4 patches it advises engines 62 and 49, and has the
 * pattern.  Each output is a sum of 256 products in the place of 147, or of 392 with
 * channels padded to eight.  Nobody has timed either.
 *
 * A frame of 224 is 0.42 MB of patches, and 0.30 of pixels, which need not stay for
 * the backward pass, since that reads the former.
 *
 * In fp32 there are no tensor cores, and stems are done plainly.
 */
#include "backend/cuda/conv.h"
#include "backend/cuda/kernels.h"
#include "base/number.h"

/* Channels of a pixel at most; those of patches are a multiple of eight. */
enum { PIXEL = 4, EIGHT = 8 };

int
stem_is(const struct task *t)
{
	const struct op *op = t->op;

	return cuda_of(t)->type != GPU_F32 && op->groups == 1 &&
	    t->in[0].c <= PIXEL && op->s[1] == 2 && op->s[2] == 2 &&
	    !t->wants_dx[0];
}

/* Patches that a window has, of rows or of columns; and those of an image. */
static int
cuda_stem_window(const struct task *t, int axis)
{
	return (t->op->k[1 + axis] + 1) / 2;
}

static int
cuda_stem_extent(const struct task *t, int axis)
{
	return (axis == 0 ? t->out.h : t->out.w) + cuda_stem_window(t, axis) -
	    1;
}

/* Channels of a patch. */
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
stem_run(struct task *t, void *to)
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
stem_turn(struct task *t, int back, const void *from, void *to)
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
