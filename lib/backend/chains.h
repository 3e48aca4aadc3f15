#ifndef BACKEND_CHAINS_H
#define BACKEND_CHAINS_H

/*
 * Chains of operators that one pass can do: a batch normalisation, and behind it
 * the addition of a shortcut, a relu, and the temporal shift of what they give.
 * The output of a bn alone would be written and read once more, forward and
 * backward, and these passes are bound by the bandwidth of memory.
 */

#include "backend/task.h"

/*
 * A chain: the priv of the task that does it.  NULL: there is none, or the back
 * end leaves it to a task of its own.
 */
struct norm {
	struct task *bn;
	struct task *add, *relu;	/* behind it */
	struct task *tail;		/* the last of these, which does all */
	int res;			/* the input of add that is not bn */
	struct task *shift;		/* of the tail's output */
	struct task *before, *after;	/* convolutions: whose output bn has, and
					 * which alone reads the tail's */
	int readers;			/* tasks that read the tail's output */
	int masks;			/* a bit a value is saved that says where
					 * the relu was open */
	struct task *home;		/* the chain whose shift the shortcut
					 * lies in; it is plain otherwise */
};

/*
 * chains_find(task, n, norm, takes):
 * Find the chain of each bn of a plan of ${n} tasks for which ${takes} is not 0;
 * NULL takes all.  The bn and the tail get the chain for priv, which
 * norm_release of the tail frees.  The tail gets ${norm} for impl, and what is
 * before it goes into it.  The shift and the convolutions are only found.
 */
void chains_find(struct task *task, int n, const struct op_impl *norm,
    int (*takes)(const struct task *bn));

/* chains_of(t, norm): return the chain that task ${t} does, or NULL. */
struct norm *chains_of(const struct task *t, const struct op_impl *norm);

/* chains_absorb(t, into): let task number ${into} do the work of ${t}. */
void chains_absorb(struct task *t, int into);

/*
 * norm_choose_mask(n, again):
 * Choose what the backward pass goes by.  The input of the bn says where the
 * relu was open, unless there is a shortcut.  A frozen norm has no other use for
 * its input, so it saves a mask instead, unless the input stays to compute the
 * output ${again}.
 */
void norm_choose_mask(struct norm *n, int again);

/* norm_release(t): struct op_impl's, of a task whose priv is a chain. */
void norm_release(struct task *t);

#endif
