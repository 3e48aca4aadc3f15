#ifndef TRAIN_LEARN_LEARNERS_H
#define TRAIN_LEARN_LEARNERS_H

/*
 * K-step averaging (Zhou and Cong 2018, K-AVG; as local SGD): N learners each
 * take K steps on clips of their own.  Then their weights are averaged, and all
 * continue from the mean.  The ranks exchange weights once in K steps, not
 * gradients in each.
 *
 * A step's batch is divided into N equal parts.  Its microbatches are
 * distributed in order, so that learner j of step t has the clips that follow
 * from (seed, t, j).  A rank has whole learners and computes one after the
 * other.  The mean uses the fixed tree over learners (comm/exact.h).  So the
 * weights are the same bits for any number of ranks up to N.
 *
 * At an average, the state is as in training without learners: the net holds
 * the mean, and the slots hold the optimizer state, as its mean or that of each
 * learner.  Validation and checkpoints happen only then.  An interval depends
 * on nothing but net and slots at its start.  Running statistics are averaged
 * with the weights.  An average is due after each K steps of the run and after
 * the last step.
 */

#include "train/loop/work.h"

struct learners;

/*
 * learners_fit(t, c): check that the learners can divide a batch of ${c}
 * evenly, and the ranks the learners.  Return 0, or -1 after a message.
 */
int learners_fit(const struct trainer *t, const struct cell *c);

/*
 * learners_bytes(t, rank, each): return the device memory of the learners of
 * ${rank}, of ${each} bytes per learner.  It adds the gradient sum of a growing
 * batch.  Without learners it is 0.
 */
size_t learners_bytes(const struct trainer *t, int rank, size_t each);

/* learners_print(t, f): print the settings to ${f}, for the plan. */
void learners_print(const struct trainer *t, FILE *f);

/*
 * learners_open(t): allocate this rank's learners, without values.  Return NULL
 * after a message.  learners_close frees them.
 */
struct learners *learners_open(const struct trainer *t);

void learners_close(struct learners *l, const struct trainer *t);

/*
 * learners_step(l, t, s):
 * work_step for learners: take a step of each, and average them if that is due.
 * Return 0, or an exit status after a message; net and state are then those of
 * the last average.  Collective: all ranks call it.
 */
int learners_step(struct learners *l, struct trainer *t,
    struct step_report *s);

#endif
