#ifndef TRAIN_LEARN_GROW_H
#define TRAIN_LEARN_GROW_H

/*
 * Batch growth: the batch grows when its gradients are mostly noise.
 *
 * An update on B clips has a gradient of variance tr(S) / B around g.  Once
 * that exceeds |g|^2, the direction of a step is mostly noise.
 * The clips are better spent on fewer steps of larger batches (Byrd et al.
 * 2012, Sample size selection in optimization methods, section 3, the norm
 * test; McCandlish et al. 2018: where the noise scale exceeds the batch).  Both
 * values follow from the displacements of learners (train/learn/noise.h), at no
 * cost, or from the gradients of microbatches (train/learn/grown_batch.h).
 *
 * The schedule does not change.  The gradients of M steps are added before an
 * update, so its batch is M times as large.  The clips do not depend on M.  M
 * changes only at an average, without learners at an update.  M and the number
 * of consecutive ones that asked for growth are part of the state in a
 * checkpoint.  So training is the same after a stop and for any number of
 * ranks.
 */

#include "train/learn/learner_settings.h"
#include "train/run/checkpoint.h"

/* grow_requested(o): return 1 if the batch may grow. */
int grow_requested(const struct learner_settings *o);

/*
 * grow_step(o, noise, gradient, s): at an average or update with the estimates
 * ${noise} of tr(S) / B and ${gradient} of |g|^2, in the same unit, update
 * s->grown and s->grow_wants.  Return 1 if the batch has grown.
 */
int grow_step(const struct learner_settings *o, double noise, double gradient,
    struct state *s);

#endif
