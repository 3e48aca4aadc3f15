#ifndef TRAIN_LEARN_LEARNERS_H
#define TRAIN_LEARN_LEARNERS_H

/*
 * K-step averaging (Zhou and Cong 2018, K-AVG): N learners each take K steps on
 * clips of their own, then their weights are averaged, and all go on from the
 * mean.  The ranks exchange weights once in K steps, and not gradients in each.
 *
 * A step's batch is N equal parts; its microbatches are dealt out in order, so
 * that learner j of step t has the clips that follow from (seed, t, j).  A rank
 * has whole learners and computes one after the other; the mean is taken by the
 * fixed tree over learners (comm/exact.h).  So the weights are the same, bit
 * for bit, for any number of ranks up to N.
 *
 * At an average all is as in training without learners: the mean is in the net,
 * what the optimiser keeps in the slots, as their mean or that of each learner,
 * and only then it is validated and saved.  What an interval begins with is what
 * net and slots have, and nothing else.  Running statistics are averaged with
 * the weights.  An average is due after each K steps of the run and after the
 * last one.
 */

#include "train/loop/work.h"

struct learners;

/* learners_fit(t, c): can learners share a batch of ${c}, and ranks the
 * learners?  0, or -1 after a message. */
int learners_fit(const struct trainer *t, const struct cell *c);

/* learners_bytes(t, rank, each): of the learners of a rank, ${each} of them so
 * many; 0 without learners. */
size_t learners_bytes(const struct trainer *t, int rank, size_t each);

/* learners_print(t, f): for people. */
void learners_print(const struct trainer *t, FILE *f);

/* learners_open(t): this rank's, without values; NULL after a message. */
struct learners *learners_open(const struct trainer *t);

/* learners_meet(l, t): all ranks have theirs, and find those of their groups.  -1
 * if another cannot be reached. */
int learners_meet(struct learners *l, const struct trainer *t);
void learners_close(struct learners *l, const struct trainer *t);

/*
 * learners_step(l, t, s): work_step, of learners: a step of each, and then the
 * average if it is due.  When it is not 0, net and state are those of the last
 * average.
 */
int learners_step(struct learners *l, struct trainer *t,
    struct step_report *s);

#endif
