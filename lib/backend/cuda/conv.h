#ifndef BACKEND_CUDA_CONV_H
#define BACKEND_CUDA_CONV_H

/*
 * Declarations shared by the files of convolutions: algorithms of the driver
 * (conv.c), depthwise kernels (depthwise.c) and packed weights (packing.c).
 */

#include "backend/cuda/cuda.h"

/*
 * State of weight packing (packing.c).  The priv of each convolution begins
 * with it.
 */
struct packing {
	int led;			/* 1: another task packs its weights */
	struct task **member;		/* tasks whose weights it also packs;
					 * owned by this structure */
	int members;
};

/*
 * conv_packing(t):
 * Return the packing of ${t}.  Create the priv of ${t} if it is NULL, and put
 * cuda_depthwise into the impl of a depthwise convolution.  The release of ${t}
 * frees it.
 */
struct packing *conv_packing(struct task *t);

/*
 * depthwise_is(op, in):
 * Return 1 if ${op} is a depthwise convolution of inputs of shape ${in}: one
 * filter per channel.
 */
int depthwise_is(const struct op *op, const struct dims *in);
/* Operator of depthwise convolutions, used instead of cuda_conv. */
extern const struct op_impl cuda_depthwise;

/*
 * conv_release(t): release of struct op_impl, for all convolutions.
 * conv_weights_bytes(t): return the bytes of packed weights, aligned.
 */
void conv_release(struct task *t);
size_t conv_weights_bytes(const struct task *t);

/* conv_taps(op): return the number of taps of its kernel. */
static inline unsigned
conv_taps(const struct op *op)
{
	return (unsigned)(op->k[0] * op->k[1] * op->k[2]);
}

/*
 * Weights are floats [out][in][taps].  Packed weights, at t->packed_weights,
 * are [out][taps][in] in the storage type, with out and in padded.  If padding
 * would separate the groups, they are those of one group: the weights between
 * groups are 0.
 *
 * conv_packed(t):
 * Return their extents and number of groups.  A depthwise convolution has one
 * output, and its channels are its inputs.
 *
 * packing_group(task, n):
 * Let the first convolution of a plan of ${n} tasks pack the weights of all.
 * Call it as the last step of cuda_fuse.
 *
 * packing_renew(t):
 * Pack the weights of ${t} and of the tasks that it leads, if they have changed
 * (weights_changed of struct task).  Do nothing if another task packs them.
 * Each forward pass begins with it.
 *
 * packing_return(t, dw):
 * Convert the packed gradient ${dw} to floats at t->dw[0].  During a graph
 * capture this happens at the next event of the graph or at its end; ${dw} must
 * stay unchanged until then.
 *
 * packing_run(c, kernel, a):
 * Launch ${kernel}, GPU_WEIGHTS_PACK or GPU_WEIGHTS_RETURN, for the rows of
 * ${a}, and remove them.  Do nothing if there are none.
 *
 * packing_returns(c):
 * Return the gradients that the graph being captured has still to convert, or
 * NULL if no graph is being captured.  The graph owns the table.
 */
struct packed_shape { int out, in, groups; };
struct packed_shape conv_packed(const struct task *t);
struct weights_table;
void packing_group(struct task *task, int n);
void packing_renew(struct task *t);
void packing_return(struct task *t, const void *dw);
void packing_run(struct cuda *c, int kernel, struct weights_table *a);
struct weights_table *packing_returns(struct cuda *c);

#endif
