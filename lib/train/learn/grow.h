#ifndef TRAIN_LEARN_GROW_H
#define TRAIN_LEARN_GROW_H

/*
 * A batch that grows when its gradients are mostly noise.
 *
 * A step of N learners on B clips together has a gradient of variance tr(S) / B
 * around g.  Once that is larger than |g|^2 a step goes mostly where chance
 * does, and clips are better spent on fewer and surer steps (Byrd et al. 2012,
 * Sample size selection in optimization methods, section 3, the norm test; by
 * McCandlish et al. 2018 where the noise scale passes the batch).  Both are
 * known from how far learners have moved apart (train/learn/noise.h), at no cost.
 *
 * The schedule stays as it is: a learner adds up the gradients of M of its steps
 * before it updates, so its batch is M times as large, from clips that do not
 * depend on M.  M changes at an average only, and it and the count of averages
 * in a row that wanted more are of the state that a checkpoint has: what is
 * trained on is the same after a stop and for every number of ranks.
 */

#include "train/learn/learner_settings.h"
#include "train/learn/noise.h"
#include "train/run/checkpoint.h"

/* grow_asked(o): the batch may grow. */
int grow_asked(const struct learner_settings *o);

/*
 * grow_step(o, n, updates, s): at an average after ${updates} of each learner,
 * whose displacements say ${n}: what ${s} is to go on with.  1 if the batch has
 * grown.
 */
int grow_step(const struct learner_settings *o, const struct noise *n,
    double updates, struct state *s);

#endif
