#ifndef TRAIN_GUARD_NOT_FINITE_H
#define TRAIN_GUARD_NOT_FINITE_H

/*
 * Steps whose loss, gradient or statistics are not finite.  They are detected
 * before the update, so weights and state are still those of the step boundary
 * before.
 */

#include "train/loop/work.h"

/*
 * not_finite_parse(text, largest): parse "fail" (${*largest} 0) or "skip:K",
 * the number of steps that may be skipped, at least 1. Return 0, or -1 without
 * a message.
 */
int not_finite_parse(const char *text, int64_t *largest);

/*
 * not_finite_step(t, s, what, value):
 * Report that step t->state.step + 1 is not finite: ${what} is, for example,
 * "the loss is" and ${value} the number.  Write the clips of the step and their
 * keys to nan-STEP.tsv in the run directory.
 * Return EXIT_DIVERGED after a message, or 0 if the step may be skipped: then
 * it counts without an update, and ${s} has the values for the log.  All ranks
 * call it.
 */
int not_finite_step(struct trainer *t, struct step_report *s, const char *what,
    double value);

#endif
