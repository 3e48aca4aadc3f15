#ifndef TRAIN_GUARD_AUDIT_H
#define TRAIN_GUARD_AUDIT_H

/*
 * Processors that compute wrongly in silence, found: a step is exact, so what
 * one rank computes another one can compute again, bit for bit.  Every so many
 * steps one microbatch is (data/twice.h), with the weights of the step, and the
 * hashes of its gradient are compared, parameter by parameter, before the
 * update.  Nothing of training is changed by it: the second gradient lies in a
 * buffer that is not in use yet, and batch statistics are part of it.
 *
 * Faults of this kind: Dixit et al. 2021, "Silent Data Corruptions at Scale";
 * Hochschild et al. 2021, "Cores that don't count".
 */

#include "train/loop/trainer.h"

struct audit;

/*
 * audit_open(t): what t->loading.audit asks for.  NULL after a message, which only
 * that of tests/tools/drill does.
 * audit_close(a): NULL is fine.
 */
struct audit *audit_open(const struct trainer *t);
void audit_close(struct audit *a);

/*
 * audit_begin(a, t, g):
 * Begin the step t->work->at.  If this rank is to compute a microbatch again, the
 * feeder's next one, do so into gradient buffer ${g}, which is free afterwards.
 * Return 0, or an exit status of this rank alone.
 */
int audit_begin(struct audit *a, struct trainer *t, void *g);

/* audit_due(a): the step that began is one of those, on all ranks. */
int audit_due(const struct audit *a);

/*
 * audit_looks(a, t, index): 1 if this rank's gradient of microbatch ${index} of the
 * step is to be looked at, before anything is added to it.  Then
 * audit_look(a, t, g) does.
 */
int audit_looks(const struct audit *a, const struct trainer *t, int index);
void audit_look(struct audit *a, struct trainer *t, void *g);

/*
 * audit_end(a, t): on all ranks, once none has failed in the step: 0;
 * EXIT_RANKS after a message if the two gradients differ and that is to end the
 * run; -1 if another rank cannot be reached.
 */
int audit_end(struct audit *a, struct trainer *t);

#endif
