#ifndef TRAIN_GUARD_AUDIT_H
#define TRAIN_GUARD_AUDIT_H

/*
 * Audits find processors that compute wrong results without an error (silent
 * data corruption).  A step is exact, so another rank can repeat a computation
 * bit for bit.  Every t->loading.audit steps one microbatch is computed twice
 * (data/microbatches.h), with the weights of the step.  Before the update, the
 * hashes of both gradients are compared, parameter by parameter.  Training does
 * not change: the second gradient and the batch statistics go to a gradient
 * buffer that is not in use yet.
 *
 * Dixit et al. 2021, "Silent Data Corruptions at Scale"; Hochschild et al.
 * 2021, "Cores that don't count".
 */

#include "train/loop/trainer.h"

struct audit;

/*
 * audit_open(t): prepare audits every t->loading.audit steps.  Return NULL
 * after a message on failure, which only the fault injection of
 * tests/tools/drill does.  audit_close frees the result.
 * audit_close(a): free ${a}, which may be NULL.
 */
struct audit *audit_open(const struct trainer *t);
void audit_close(struct audit *a);

/*
 * audit_begin(a, t, g):
 * Begin the step t->work->at.  If this rank computes the audit duplicate, which
 * is the feeder's next microbatch, compute it into gradient buffer ${g}, which
 * is free again on return.  Return 0, or an exit status of this rank alone
 * after a message.
 */
int audit_begin(struct audit *a, struct trainer *t, void *g);

/* audit_due(a): return 1 if the step that began is audited, on all ranks. */
int audit_due(const struct audit *a);

/*
 * audit_looks(a, t, index): return 1 if the gradient of this rank's microbatch
 * ${index} of the step is audited.  The caller then calls audit_look before it
 * adds anything to the gradient.
 * audit_look(a, t, g): hash the gradient in ${g}.
 */
int audit_looks(const struct audit *a, const struct trainer *t, int index);
void audit_look(struct audit *a, struct trainer *t, void *g);

/*
 * audit_end(a, t): compare the two gradients of an audited step; call it if no
 * rank has failed.  Return 0 if they are equal.  If they differ, return
 * EXIT_RANKS after a message, or 0 after a warning if t->o.audit_report is set.
 * Return -1 after a message if another rank cannot be reached.
 * Collective: all ranks call it.
 */
int audit_end(struct audit *a, struct trainer *t);

/*
 * replica_check(t):
 * Compare the bits of weights and running statistics of all ranks.  Return 0 if
 * they are the same.  If not, return EXIT_RANKS after a message that names the
 * rank that differs, its host and the first tensor.  Return -1 after a message
 * if a rank cannot be reached.  It hashes 24 million parameters in about 10 ms.
 * Collective: all ranks call it.
 */
int replica_check(struct trainer *t);

#endif
