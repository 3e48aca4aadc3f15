#ifndef BENCH_STEP_LISTS_H
#define BENCH_STEP_LISTS_H

/*
 * The messages of a training step as lists (comm/collective.h), for any number
 * of ranks.  They are those that the trainer executes; comm/walk.h times
 * them.
 */

#include "comm/allreduce.h"
#include "comm/walk.h"

/* The exchanges of a step. */
enum step_part {
	STEP_SUM,			/* the sum of a bucket of gradients */
	STEP_LAST_SUM,			/* that of the last bucket */
	STEP_WEIGHTS,			/* the all-gather of updated weights */
	STEP_REPORTS,			/* loss and accuracy of microbatches */
	STEP_NORMS,			/* sums of squares for norms */
	STEP_AGREE,			/* one status of all ranks */
	STEP_PARTS
};

/* A step: its gradients, its ranks, and the method of its sums. */
struct step_lists {
	const struct algorithm *kind;	/* NULL: the exact sum */
	const struct wire *wire;	/* communication dtype; not exact */
	int ranks, ranks_per_host;
	int columns;			/* of the grid; 0: chosen by ${kind} */
	int microbatches;		/* of the step, at least ${ranks} */
	size_t elements, bucket;	/* of the gradients; of a bucket */
};

/*
 * step_lists_buckets(s, elements, bytes):
 * Set ${elements}, and ${bucket} as the trainer does for buckets of ${bytes}.
 * step_lists_times(s, part): return how often a step has ${part}.
 */
void step_lists_buckets(struct step_lists *s, size_t elements, size_t bytes);
size_t step_lists_times(const struct step_lists *s, enum step_part part);

/*
 * step_lists_make(s, part, list):
 * Append the lists of one ${part} to list[s->ranks].  Return 0, or -1 after a
 * message if the ranks do not fill the grid of the algorithm.
 */
int step_lists_make(const struct step_lists *s, enum step_part part,
    struct collective *list);

/*
 * step_lists_walk(s, part, costs, look, w):
 * Walk the lists of one ${part} with ${costs} (walk_lists).  Before, pass them
 * to ${look} with costs->arg; NULL: do not.  Return 0, or -1 after a message.
 */
int step_lists_walk(const struct step_lists *s, enum step_part part,
    const struct walk_costs *costs, void (*look)(void *arg,
    const struct collective *list, int ranks), struct walk *w);

#endif
