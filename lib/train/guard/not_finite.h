#ifndef TRAIN_GUARD_NOT_FINITE_H
#define TRAIN_GUARD_NOT_FINITE_H

/*
 * A step whose loss, gradient or statistics are not finite: seen before the
 * update, so that weights and state are still those of the border before it.
 */

#include "train/loop/work.h"

/* on_nan_parse(text, most): "fail", 0 steps, or "skip:K"; -1 if it is neither. */
int on_nan_parse(const char *text, int64_t *most);

/*
 * not_finite_step(t, s, what, value):
 * On all ranks: "step 3: <what> <value>".  What the step was made of, its clips
 * and their keys, is left in the run as nan-STEP.tsv.  EXIT_DIVERGED; or 0 if
 * the step may be skipped: then it counts, with no update, and ${s} has what can
 * be logged of it.
 */
int not_finite_step(struct trainer *t, struct step_report *s, const char *what,
    double value);

#endif
