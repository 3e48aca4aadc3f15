#ifndef BACKEND_TASK_H
#define BACKEND_TASK_H

/*
 * The interface between a plan and a back end: an operator bound to a shape,
 * the input of a microbatch, and a back end's implementation of an operator.
 */

#include <stddef.h>
#include <stdint.h>

#include "graph/graph.h"

struct device;

/* Results of one loss over the clips of a microbatch. */
struct outcome {
	double loss;			/* mean of the clips' weighted losses */
	int32_t top1, top5;		/* clips predicted correctly */
	int32_t ranked;			/* clips with a class, which top-1 and
					 * top-5 are a part of */
};

/*
 * Input of one microbatch, in host memory of the caller, and the destination of
 * its losses, in device memory.  The host reads the losses only after the step,
 * so that nothing waits for them.
 */
struct feed {
	const struct stream *stream;	/* [graph->needs.streams] */
	const struct target *target;	/* [graph->needs.targets]; NULL: none */
	const uint64_t *clip;		/* [n] global clip numbers */
	uint64_t seed;			/* of dropout; hashed with the clip */
	struct outcome *outcome;	/* [heads]; NULL: do not report */
	double scale;			/* loss scale of the gradients; 0: 1 */
};

/*
 * Values of a feed that operators of a discrete device read from its memory.  A
 * captured graph must find them at a fixed address (backend/staging_buffer.h).
 */
struct feed_values {
	uint64_t seed;
	double scale;			/* feed_scale() */
};

/*
 * Ranks whose microbatches are equal parts of one larger microbatch that is
 * normalized as a whole: the process group of a sync BN.  All peers run the
 * same plan at the same time.  Each bn that takes its statistics from the
 * microbatch needs two sums a channel in the forward pass, and two in the
 * backward pass.  Peng et al. 2018, MegDet, section 3.3.
 *
 * sum(peers, d, x, n):
 * Replace each of the ${n} numbers at ${x}, device memory of ${d}, by its sum
 * over all peers, with the same bits on each.  The sum runs in stream order.
 * If a peer cannot be reached, the program ends.
 *
 * agree(peers, yes):
 * Return 1 if ${yes} is 1 on all peers.  NULL if sum waits on the host, so that
 * a pass with sums cannot be captured (device_capture).
 */
struct peers {
	int n;				/* ranks, at least 2 */
	void (*sum)(const struct peers *, struct device *d, double *x,
	    size_t n);
	int (*agree)(const struct peers *, int yes);
};

/*
 * One operator bound to one shape: all that its kernels need.  A task takes no
 * decisions.
 *
 * A back end may fuse tasks (struct backend's fuse). A task with ${fused_into}
 * of another one is neither prepared nor run. The other task does its work, in
 * the forward and in the backward pass. When it runs, the inputs of both must
 * be ready, and in the backward pass the gradients of all their outputs.
 */
struct task {
	struct device *device;
	const struct op *op;
	int index;			/* of the op in the graph */
	int training;			/* 1: batch statistics, and a backward
					 * pass */
	const struct peers *peers;	/* NULL: the microbatch is whole */
	/* The back end's row for op, or a replacement of it. */
	const struct op_impl *impl;
	/*
	 * fused_into: number of the task that does this one's work; its own
	 * unless fused.
	 */
	int fused_into;
	/* 1 if y is materialized; 0 if only fused ops use it. */
	int materialized;
	/*
	 * alias_of: number of the task whose y buffer stores this output, in a
	 * layout that its readers know.  Its own number unless aliased.
	 */
	int alias_of;
	/* Inputs of the backward pass, READS_*.  Query by task_reads. */
	int reads;
	/*
	 * 1: do not store y for the backward pass, but recompute it before its
	 * first reader there, if there is one.
	 */
	int recompute;
	struct dims in[OP_INPUTS], out;
	int needs_input_grad[OP_INPUTS];	/* needs_input_grad */
	/*
	 * needs_weight_grad: parameters are trained.  A bn whose parameters are
	 * not trained normalizes with running statistics.
	 */
	int needs_weight_grad;
	/*
	 * no_grad: the task has no backward pass.  Neither it nor a task before
	 * it has trained parameters.
	 */
	int no_grad;
	int accumulate[OP_INPUTS];	/* 1: dx +=, 0: dx = */
	const void *x[OP_INPUTS];	/* inputs */
	void *y;			/* output */
	void *dx[OP_INPUTS];		/* input gradients; NULL: not needed */
	/* Output gradient.  NULL if only fused tasks produce it. */
	const void *dy;
	const void *w[OP_PARAMS];	/* parameters */
	/*
	 * Gradients of the parameters, overwritten; NULL: not needed.  For
	 * PARAM_MEAN and PARAM_VAR: mean and unbiased variance of this
	 * microbatch.  For PARAM_BETWEEN: squared distance of its mean from the
	 * running mean.
	 */
	void *dw[OP_PARAMS];
	void *saved;			/* forward writes, backward reads */
	/*
	 * Packed weights: valid from one microbatch to the next while the
	 * parameters do not change.
	 */
	void *packed_weights;
	/*
	 * weights_changed: the parameters have changed, so ${packed_weights}
	 * must be packed again.
	 */
	int weights_changed;
	/*
	 * 1 if several microbatches run between two changes of the parameters.
	 */
	int repeats;
	void *scratch;			/* undefined before each call */
	/* On a discrete device its pointers are device pointers. */
	const struct feed *feed;
	/*
	 * On a discrete device: values of the feed, in device memory.
	 * Otherwise NULL.
	 */
	const struct feed_values *values;
	void *priv;			/* private to the back end */
};

/* Inputs that a backward pass reads.  READS_X_DW: x, for dw only. */
enum { READS_X = 1, READS_Y = 2, READS_X_DW = 4 };

/* A back end's implementation of an operator. */
struct op_impl {
	int reads;			/* initial task.reads */
	/*
	 * Select algorithms for this shape, once per task; release undoes it.
	 * Either may be NULL.  Return 0, or -1 after a message if the op cannot
	 * run.  prepare may replace the task's impl.
	 */
	int (*prepare)(struct task *);
	void (*release)(struct task *);
	/*
	 * Return the bytes of ${saved} and of ${scratch}; NULL: 0.  ${saved}
	 * lives from the forward to the backward pass, and until the last
	 * reader of the output is done.
	 */
	size_t (*saved)(const struct task *);
	size_t (*scratch)(const struct task *);
	/* Return the bytes of ${packed_weights}; NULL: 0. */
	size_t (*packed_bytes)(const struct task *);
	void (*forward)(struct task *);
	/*
	 * Recompute y in the backward pass from x and ${saved}, to the same
	 * bits as forward.  NULL: not supported.
	 */
	void (*recompute)(struct task *);
	/* NULL if no gradient flows through the operator. */
	void (*backward)(struct task *);
	/*
	 * Describe the selected algorithm for the user in ${text}; NULL: no
	 * choice.
	 */
	void (*describe)(const struct task *, char *text, size_t size);
};

/* feed_scale(f): return the factor of the gradients of losses. */
static inline double
feed_scale(const struct feed *f)
{
	return f->scale != 0 ? f->scale : 1;
}

/*
 * task_forward(t): run the forward pass of ${t}.
 *
 * task_backward(t): run the backward pass of ${t}, if it has one.
 */
void task_forward(struct task *t);
void task_backward(struct task *t);

/*
 * task_reads(t): return the inputs that the backward pass of ${t} reads, a sum
 * of READS_X and READS_Y; 0 if it has no backward pass.
 */
int task_reads(const struct task *t);

/*
 * task_recompute(t): recompute the output of ${t}, whose impl->recompute is not
 * NULL.
 */
void task_recompute(struct task *t);

/*
 * task_release(t): undo prepare.  Do nothing if ${t} is fused into another task
 * or was not prepared.
 */
void task_release(struct task *t);

#endif
