#ifndef TRAIN_LEARN_LEARNERS_RUN_H
#define TRAIN_LEARN_LEARNERS_RUN_H

/*
 * The data of learners: private to learners.c, average.c and noise.c.
 */

#include "comm/exact.h"
#include "train/learn/learners.h"
#include "train/learn/round.h"

enum { LEARNERS_CHUNK = 65536 };	/* elements copied at once through the
					 * host */

/* A learner of this rank. */
struct learner {
	void *w;			/* its weights, in device memory */
	void *sum;			/* sum of gradients if the batch grows,
					 * else NULL */
	int count;			/* microbatches in ${sum} */
	struct optim optim;		/* state of all elements */
};

/* The learners of this rank, and the state of the current interval. */
struct learners {
	int n, first, held;		/* all; this rank's first, and their
					 * number */
	int slots;			/* optimizer slots of each */
	struct learner *learner;	/* [held] */
	void **vector;			/* [held] arguments of an average */
	struct exact exact;
	struct host_staging staging;	/* host staging for exact sums */
	void *mean;			/* weights of the net: the last
					 * average */
	struct round round;		/* up to an average */
	int updates;			/* updates in it so far, of each
					 * learner */
	double norm;			/* of the first learner's last
					 * gradient */
	double *moved, mean_moved;	/* [n] squared displacements:
					 * train/learn/noise.h */
	size_t *moved_at;		/* [ranks + 1] bytes: each rank's */
	double *buffer;			/* [2][LEARNERS_CHUNK] scratch */
};

/*
 * learners_copy(n, to, from, count): copy ${count} elements in device memory.
 */
void learners_copy(const struct net *n, void *to, const void *from,
    size_t count);

/* learners_measure(t): return 1 if displacements must be measured. */
int learners_measure(const struct trainer *t);

/*
 * average_load(l, t): give each learner the weights of the net and the
 * optimizer state of the run.
 * average_store(l, t): average the learners into the net and the run's state.
 * The learners' own values are overwritten.
 * Collective: all ranks call both.  Return 0, or -1 after a message if another
 * rank cannot be reached.
 */
int average_load(struct learners *l, struct trainer *t);
int average_store(struct learners *l, struct trainer *t);

#endif
