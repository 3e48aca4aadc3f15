#ifndef BACKEND_TASK_H
#define BACKEND_TASK_H

/*
 * What a back end computes: an operator bound to a shape, what a microbatch
 * brings to it, and how a back end says that it does such a thing.
 */

#include <stddef.h>
#include <stdint.h>

#include "graph/graph.h"

struct device;

/* What a loss says of the clips of a microbatch. */
struct outcome {
	double loss;			/* mean, of clips times their weights */
	int32_t top1, top5;		/* clips that are right among them */
};

/*
 * What one microbatch brings, in host memory of the caller's, and where its
 * losses go, in the device's: nobody waits for them until the step is over.
 */
struct feed {
	const struct stream *stream;	/* as graph->needs lists them */
	const struct target *target;
	const uint64_t *clip;		/* [n] global clip numbers */
	uint64_t seed;			/* for dropout, with the clip */
	struct outcome *outcome;	/* [heads]; NULL: not asked for */
	double scale;			/* the gradients of losses are multiplied
					 * by it; 0: as they are */
};

/* Those values of a feed that operators of a device that is apart find in its
 * memory, with all else (backend/tray.h). */
struct feed_values {
	uint64_t seed;
	double scale;			/* feed_scale() */
};

/*
 * Ranks whose microbatches are parts of one, with as many clips each, that is
 * normalised as a whole.  All of them run the same plan at the same time, and
 * each bn of it that takes its statistics from the microbatch asks for two sums
 * a channel forward, and for two backward (Peng et al. 2018, MegDet, section
 * 3.3).
 *
 * sum: each of the ${n} numbers at ${x} becomes its sum over all peers, the same
 * bits on each.  ${x} is memory of the device's, and the sum a part of the work
 * given to it, in its order; ${d} is that device.  Where a peer cannot be reached
 * the run ends.
 */
struct peers {
	int n;				/* ranks, two and more */
	void (*sum)(const struct peers *, struct device *d, double *x,
	    size_t n);
};

/*
 * One operator bound to one shape: all its kernels need, and no decisions.
 *
 * A back end may let one task do the work of others (struct backend's fuse).
 * A task that is done by another has ${into} of that one; it is neither
 * prepared nor run.  Forward, all is done when the doing task's turn comes,
 * backward likewise: its inputs must be ready then, and the gradients of its
 * outputs complete.
 */
struct task {
	struct device *device;
	const struct op *op;
	int index;			/* of the op in the graph */
	int training;			/* batch statistics; backward follows */
	const struct peers *peers;	/* NULL: the microbatch is whole */
	const struct op_impl *impl;	/* the back end's row for op, or what
					 * it puts in its place */
	int into;			/* the task that does this one's work:
					 * itself, if nobody else does */
	int stored;			/* y is memory, not only on its way
					 * from one fused op to the next */
	int lies;			/* the task whose y holds this one's
					 * output, in a form that those who
					 * read it know: itself, if plain */
	int lends;			/* another task reads of what it saved */
	int reads;			/* READS_* of the backward pass: ask
					 * task_reads() */
	int remade;			/* y does not stay for the backward
					 * pass, but is made again before it is
					 * first read there; 0 if it never is */
	struct dims in[OP_INPUTS], out;
	int wants_dx[OP_INPUTS];	/* an input gradient will be asked for */
	int wants_dw;			/* and the parameters', which are trained;
					 * a bn that is not has running
					 * statistics */
	int idle;			/* it has no backward pass: neither it
					 * nor anything before it learns */
	int accumulate[OP_INPUTS];	/* dx += rather than dx = */
	const void *x[OP_INPUTS];	/* inputs */
	void *y;			/* output */
	void *dx[OP_INPUTS];		/* input gradients; NULL: not wanted */
	const void *dy;			/* output gradient; NULL: none comes but
					 * from what is fused with it */
	const void *w[OP_PARAMS];	/* parameters */
	void *dw[OP_PARAMS];		/* their gradients, written anew; of
					 * PARAM_MEAN and PARAM_VAR: the mean
					 * and unbiased variance of this
					 * microbatch; of PARAM_BETWEEN: how
					 * far its mean is from the running
					 * one, squared; NULL: not wanted */
	void *saved;			/* written forward, read backward */
	void *kept;			/* stays from one microbatch to the next
					 * while the parameters do */
	int renew;			/* they have changed: what is kept is
					 * to be made anew */
	int repeats;			/* several microbatches will come before
					 * they change */
	void *scratch;			/* contents die with each call */
	const struct feed *feed;	/* where the device is apart, what it
					 * points to lies there */
	const struct feed_values *values;	/* then: of the feed */
	void *priv;			/* the back end's own, for this task */
};

/* What a backward pass reads; READS_X_DW: x, but for dw alone. */
enum { READS_X = 1, READS_Y = 2, READS_X_DW = 4 };

struct op_impl {
	int reads;			/* what task.reads begins as */
	/*
	 * Choose algorithms for this shape, once, and undo it; NULL: nothing
	 * to do.  -1 after a message if the op cannot be run as it should.
	 * Preparing may put another row into the task's impl.
	 */
	int (*prepare)(struct task *);
	void (*release)(struct task *);
	/*
	 * Bytes to keep from forward to backward (and until the last reader of
	 * the output is done), and to scribble on; NULL: 0.
	 */
	size_t (*saved)(const struct task *);
	size_t (*scratch)(const struct task *);
	/* Bytes to keep while the parameters stay the same; NULL: 0. */
	size_t (*kept)(const struct task *);
	void (*forward)(struct task *);
	/*
	 * Write again what of y is remade, as forward did and to the same bits,
	 * from x and what was saved, in the backward pass; NULL: there is none.
	 */
	void (*remake)(struct task *);
	/* NULL: no gradient flows back through it. */
	void (*backward)(struct task *);
	/* What prepare chose, in words for people; NULL: there is no choice. */
	void (*describe)(const struct task *, char *text, size_t size);
};

/* feed_scale(f): what gradients of losses are multiplied by. */
static inline double
feed_scale(const struct feed *f)
{
	return f->scale != 0 ? f->scale : 1;
}

/*
 * task_impl(t): the operator's row in the back end's table; NULL: it has none.
 * task_forward, task_backward: run it; no backward pass is fine.
 */
const struct op_impl *task_impl(const struct task *t);
void task_forward(struct task *t);
void task_backward(struct task *t);

/* task_reads(t): what the backward pass of this op reads, of READS_X and
 * READS_Y; nothing, if it has none. */
int task_reads(const struct task *t);

/* task_remake(t): of one whose impl has it. */
void task_remake(struct task *t);

/* task_release(t): undo its prepare; fine where there was none. */
void task_release(struct task *t);

#endif
