#ifndef TRAIN_GUARD_CORRUPT_H
#define TRAIN_GUARD_CORRUPT_H

/*
 * Damaged samples that are passed over.  Loaders find them and put others in
 * their place (data/loader_clip.c); at the end of a step, or of a measurement
 * (train/loop/precise.h), the ranks put together what all of them found, and from
 * the next step on all know it.  The set is a part of the run's state.
 */

#include "train/loop/trainer.h"

struct corrupt;
struct step_report;

/* corrupt_parse(text, rate): "fail", -1, or "skip:RATE", of all samples, 0 to 1;
 * -1 if it is neither. */
int corrupt_parse(const char *text, double *rate);

/* corrupt_open(t): with those that t->state.corrupt names; NULL after a message.
 * corrupt_tell(c, l): the loader is told of them. */
struct corrupt *corrupt_open(const struct trainer *t);
void corrupt_close(struct corrupt *c);
void corrupt_tell(const struct corrupt *c, struct loader *l);

/* corrupt_found(c, t, step, mb): what was found in ${mb}, with a warning for
 * each that names ${step}. */
void corrupt_found(struct corrupt *c, const struct trainer *t, uint64_t step,
    const struct microbatch *mb);

/*
 * corrupt_share(c, t, step): on all ranks, where any of them may have found one
 * in ${step}: 0; EXIT_DAMAGE after a message if they are too many; -1 if a rank
 * cannot be reached.  What is known changes only with corrupt_learn(c, t), once
 * the step counts.
 */
int corrupt_share(struct corrupt *c, struct trainer *t, uint64_t step);
void corrupt_learn(struct corrupt *c, struct trainer *t);

/* corrupt_known(c): those that are. */
const struct bad_set *corrupt_known(const struct corrupt *c);

#endif
