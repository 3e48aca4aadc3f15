#ifndef BACKEND_CHAINS_H
#define BACKEND_CHAINS_H

/*
 * Chains of operators that one kernel can do: a batch normalization, the
 * addition of a shortcut, a relu, and the temporal shift of the result.
 * Unfused, each output of a bn would be written and read once more, forward and
 * backward.  These kernels are bound by memory bandwidth.
 */

#include "backend/task.h"

/*
 * A chain.  It is the priv of the task that does it.  A pointer is NULL if the
 * chain has no such operator, or if the back end runs it as a task of its own.
 */
struct norm {
	struct task *bn;
	struct task *add, *relu;	/* behind the bn */
	struct task *tail;		/* the last of bn, add and relu; does
					 * all */
	int res;			/* the other input of add, 0 or 1 */
	struct task *shift;		/* of the tail's output */
	int readers;			/* tasks that read the tail's output */
	/*
	 * 1: save a mask of one bit a value that says where the relu passed its
	 * input.
	 */
	int saves_mask;
	/*
	 * The task that stores the shortcut shifted, if no unshifted copy
	 * exists; NULL otherwise.
	 */
	struct task *shortcut_home;
};

/*
 * chains_find(task, n, norm, takes):
 * Find the chain of each bn of a plan of ${n} tasks for which ${takes} is not
 * 0; NULL takes all.  Set the priv of the bn and of the tail to the chain,
 * which norm_release of the tail frees.  Set the tail's impl to ${norm}, and
 * fuse the tasks before it into it.  Only record the shift; the caller decides
 * whether to fuse it.
 */
void chains_find(struct task *task, int n, const struct op_impl *norm,
    int (*takes)(const struct task *bn));

/*
 * chains_of(t, norm):
 * Return the chain that task ${t} does, or NULL.
 */
struct norm *chains_of(const struct task *t, const struct op_impl *norm);

/*
 * chains_fuse(t, into):
 * Fuse task ${t} into task number ${into}.
 */
void chains_fuse(struct task *t, int into);

/*
 * norm_choose_mask(n, again):
 * Choose how the backward pass finds where the relu was open, and set
 * ${saves_mask} and the bn's reads. Without a shortcut, the input of the bn
 * tells. A frozen bn has no other use for its input, so it saves a mask
 * instead, unless the input stays to recompute the output (${again}).
 */
void norm_choose_mask(struct norm *n, int again);

/*
 * norm_release(t):
 * Free the chain of ${t}; the release function of a task whose priv is a chain.
 */
void norm_release(struct task *t);

#endif
