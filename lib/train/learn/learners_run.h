#ifndef TRAIN_LEARN_LEARNERS_RUN_H
#define TRAIN_LEARN_LEARNERS_RUN_H

/* What learners are made of: private to learners.c, average.c,
 * learner_groups.c and noise.c. */

#include "comm/exact.h"
#include "train/learn/learners.h"

enum { LEARNERS_CHUNK = 65536 };	/* elements at a time, through the host */

struct learner {
	void *w;
	void *sum;			/* of gradients, where the batch grows;
					 * else NULL */
	int count;			/* microbatches in it */
	struct optim optim;		/* of all elements */
};

struct learners {
	int n, first, held;		/* in all; this rank's */
	int slots;			/* that each has */
	struct learner *learner;	/* [held] */
	void **vector;			/* [held] the same thing of each */
	struct exact exact;
	struct detour detour;		/* for exact sums */
	void *mean;			/* the net's own weights: the last
					 * average */
	struct state at;		/* of the run at that time */
	int groups;
	struct learner_group *group;	/* [groups] */
	int begun;			/* the interval has */
	int updates;			/* in it so far, of each */
	double norm;			/* of the first one's last gradient */
	int wish;			/* what was wished in it */
	double *moved, mean_moved;	/* [n] squares: train/learn/noise.h */
	size_t *moved_at;		/* [ranks + 1] bytes: each rank's */
	double *room;			/* [3][LEARNERS_CHUNK] */
};

/* learners_copy(l, n, to, from, count): ${count} elements from one place of the
 * device to another. */
void learners_copy(struct learners *l, const struct net *n, void *to,
    const void *from, size_t count);

/* learners_divide(l, t, v, from, to, n): those elements of ${v} by ${n}. */
void learners_divide(struct learners *l, const struct trainer *t, void *v,
    size_t from, size_t to, int n);

/* learners_keep_frozen(l, t, w): what is frozen stays as it is, which a sum
 * divided again need not be. */
void learners_keep_frozen(struct learners *l, const struct trainer *t, void *w);

/* learners_measure(t): how far they move apart is to be known. */
int learners_measure(const struct trainer *t);

/* learners_own_slots(t): how many slots are the optimiser's own, which come
 * first. */
int learners_own_slots(const struct trainer *t);

/*
 * learner_groups_open(l, t): -1 if another rank cannot be reached.
 * learner_groups_average(l, t): every learner has the mean of its group.  All
 * ranks call them.
 */
int learner_groups_open(struct learners *l, const struct trainer *t);
int learner_groups_average(struct learners *l, const struct trainer *t);
void learner_groups_close(struct learners *l);

/*
 * average_take(l, t): every learner has the weights of the net, and its optimiser
 * keeps what the slots of the run say.  average_give(l, t): the net and the
 * slots have the mean of the learners, whose own is used up.  All ranks call
 * them; -1 if another cannot be reached.
 */
int average_take(struct learners *l, struct trainer *t);
int average_give(struct learners *l, struct trainer *t);

#endif
