#ifndef BACKEND_CUDA_CONV_H
#define BACKEND_CUDA_CONV_H

/* What the files of convolutions share: by plans (conv.c), of pixels (stem.c), and
 * of each channel by itself (depth.c). */

#include "backend/cuda/cuda.h"

/*
 * How weights are packed (packing.c).  The priv of a convolution begins with it.
 * conv_packing(t): return that of ${t}, made if there is none yet; one of each
 * channel by itself gets cuda_depth's row then.
 */
struct packing {
	int led;			/* another task packs its weights */
	struct task **member;		/* it packs theirs after its own; ours */
	int members;
};
struct packing *conv_packing(struct task *t);

/* Whether it is a convolution of each channel by itself; its row, which is put in
 * the place of cuda_conv. */
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
 * stem_turn(t, back, from, to): pack its weights, or return their gradient.
 */
int stem_is(const struct task *t);
void stem_shape(const struct task *t, struct conv_shape *s);
size_t stem_weights(const struct task *t);
size_t stem_bytes(const struct task *t);
void stem_run(struct task *t, void *to);
void stem_turn(struct task *t, int back, const void *from, void *to);

/*
 * Weights are floats [out][in][taps], and packed, at t->kept, [out][taps][in] as
 * activations are stored.
 * packing_group(task, n): let the first convolution of a plan pack the weights of
 * all.  It is the last step of fusing.
 * packing_renew(t): pack those of ${t}, where they have changed, and of those that
 * it leads; nothing if it is led.  Each forward pass begins with it.
 * packing_return(t, dw): put the gradient ${dw}, packed, at t->dw[0].  In a graph
 * that is done at its next event or at its end; ${dw} must stay until then.
 * packing_run(c, kernel, a): launch GPU_WEIGHTS_PACK or GPU_WEIGHTS_RETURN for
 * the rows of ${a}, and remove them.  Nothing, if there are none.
 * packing_returns(c): return the rows of the graph that is captured; NULL: none is.
 */
struct weights_table;
void packing_group(struct task *task, int n);
void packing_renew(struct task *t);
void packing_return(struct task *t, const void *dw);
void packing_run(struct cuda *c, int kernel, struct weights_table *a);
struct weights_table *packing_returns(struct cuda *c);

#endif
