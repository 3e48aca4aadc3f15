#ifndef BACKEND_CUDA_CONV_H
#define BACKEND_CUDA_CONV_H

/* What the files of convolutions share: by plans (conv.c), of pixels (stem.c), and
 * of each channel by itself (depth.c). */

#include "backend/cuda/cuda.h"

/* Whether it is a convolution of each channel by itself; its row, which
 * cuda_conv's prepare puts in the place of its own. */
int depth_is(const struct op *op, const struct dims *in);
extern const struct op_impl cuda_depth;

/* conv_taps(op): places of its kernel. */
static inline unsigned
conv_taps(const struct op *op)
{
	return (unsigned)(op->k[0] * op->k[1] * op->k[2]);
}

/*
 * Patterns (driver.h), where the driver has them, for the fuse of a plan; 0: it has
 * not.
 * conv_takes_norm(t, n): ${t} does the work of the norm whose output it alone
 * reads, in place of its own input, and takes ${n}.
 * conv_leaves_sums(t): the sums that a bn of its output begins with lie at
 * conv_sums(t), floats [2][out], from its forward pass on.
 */
struct norm;
int conv_takes_norm(struct task *t, struct norm *n);
int conv_leaves_sums(struct task *t);
float *conv_sums(const struct task *t);

/*
 * A stem (stem.c): a convolution that is done as another one, of patches.
 * stem_is(t): whether ${t} is one.
 * stem_shape(t, s): ${s}, that of its convolution, becomes the other's.
 * stem_weights(t): numbers of the other's weights.
 * stem_bytes(t), stem_run(t, to): of its patches; they are made of its input.
 * stem_turn(t, back, from, to): as weights_turn.
 */
int stem_is(const struct task *t);
void stem_shape(const struct task *t, struct conv_shape *s);
size_t stem_weights(const struct task *t);
size_t stem_bytes(const struct task *t);
void stem_run(struct task *t, void *to);
void stem_turn(struct task *t, int back, const void *from, void *to);

/*
 * weights_turn(c, kernel, out, in, taps, from, to):
 * GPU_WEIGHTS_KEEP: floats [out][in][taps] at ${from} become what is stored,
 * [out][taps][in], at ${to}; GPU_WEIGHTS_RETURN: the other way.
 */
void weights_turn(struct cuda *c, int kernel, size_t out, size_t in,
    unsigned taps, const void *from, void *to);

#endif
