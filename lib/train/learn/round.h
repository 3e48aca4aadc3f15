#ifndef TRAIN_LEARN_ROUND_H
#define TRAIN_LEARN_ROUND_H

/*
 * A round: the steps up to an average of learners, or up to the update of a
 * grown batch.  The run is saved and validated only between rounds.
 *
 * After a round the batch may grow, if its gradients are mostly noise.
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

#include "train/loop/work.h"

/* Initialize it with zeros. */
struct round {
	int begun;			/* 1: it has a first step */
	struct state at;		/* of the run before that step */
	int requests;			/* stop or save requests since then */
};

/*
 * round_begin(r, t): begin a round with the step ${t}->work->at.  Return 1, or
 * 0 if one has begun already.
 */
int round_begin(struct round *r, const struct trainer *t);

/*
 * round_due(r, t, n): return 1 if ${t}->work->at completes ${n} batches of the
 * round, or any number of them, or if it is the last step of the run.
 */
int round_due(const struct round *r, const struct trainer *t, int64_t n);

/*
 * round_step(r, s, due): finish a step.  Defer its requests to the end of the
 * round.  ${due}: the step ends the round.
 *
 * round_fall_back(r, t, status): restore the counters of the state before the
 * round, which the net still has.  Return ${status}.
 */
void round_step(struct round *r, struct step_report *s, int due);
int round_fall_back(const struct round *r, struct trainer *t, int status);

/* round_grows(o): return 1 if the batch may grow. */
int round_grows(const struct learner_settings *o);

/*
 * round_grow(t, noise, gradient): decide on growth after a round, by the
 * estimates ${noise} of tr(S) / B and ${gradient} of |g|^2, in the same unit.
 * Update grown and grow_wants of ${t}->state.  Rank 0 prints a note if the
 * batch has grown.
 */
void round_grow(struct trainer *t, double noise, double gradient);

#endif
