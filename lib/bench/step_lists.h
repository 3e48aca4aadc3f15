#ifndef BENCH_STEP_LISTS_H
#define BENCH_STEP_LISTS_H

/*
 * The messages of a training step as lists (comm/collective.h), for any number
 * of ranks.  They are those that the trainer executes; comm/walk.h counts and
 * times them.
 */

#include "comm/allreduce.h"
#include "comm/collective.h"

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
 * step_lists_times(s, part): return how often a step has ${part}.
 * step_lists_name(part): return its name, such as "sum".
 */
size_t step_lists_times(const struct step_lists *s, enum step_part part);
const char *step_lists_name(enum step_part part);

/*
 * step_lists_make(s, part, list):
 * Append the lists of one ${part} to list[s->ranks].  Return 0, or -1 after a
 * message if the ranks do not fill the grid of the algorithm.
 */
int step_lists_make(const struct step_lists *s, enum step_part part,
    struct collective *list);

#endif
