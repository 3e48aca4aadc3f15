#ifndef TRAIN_GUARD_CORRUPT_H
#define TRAIN_GUARD_CORRUPT_H

/*
 * Damaged samples that training skips.  Loaders detect them and replace them by
 * other samples (data/loader_clip.c).  At the end of a step, or of a
 * measurement (train/loop/precise.h), the ranks combine their findings; from
 * the next step all ranks know them.  The set is part of the run's state.
 */

#include "train/loop/trainer.h"

struct corrupt;
struct step_report;

/*
 * corrupt_parse(text, rate): parse "fail" (${*rate} -1) or "skip:RATE", the
 * allowed share of all samples, 0 to 1.  Return 0, or -1 without a message.
 */
int corrupt_parse(const char *text, double *rate);

/*
 * corrupt_open(t): return the set with the samples that t->state.corrupt lists,
 * or NULL after a message.  corrupt_close frees it.
 * corrupt_apply(c, l): mark the known samples as damaged in loader ${l}
 * (loader_bad).
 */
struct corrupt *corrupt_open(const struct trainer *t);
void corrupt_close(struct corrupt *c);
void corrupt_apply(const struct corrupt *c, struct loader *l);

/*
 * corrupt_found(c, t, step, mb): add the damaged samples that the loader found
 * for ${mb}.  Print a warning that names ${step} for each new one.
 */
void corrupt_found(struct corrupt *c, const struct trainer *t, uint64_t step,
    const struct microbatch *mb);

/*
 * corrupt_share(c, t, step):
 * Combine the samples that the ranks found in ${step}, and log them.  Return 0;
 * EXIT_DAMAGE after a message if they exceed t->o.corrupt; -1 after a message
 * if a rank cannot be reached.  Collective: all ranks call it, in a step in
 * which any may have found one.
 * corrupt_learn(c, t): add the findings to the known samples.  Call it when the
 * step counts, on all ranks.
 */
int corrupt_share(struct corrupt *c, struct trainer *t, uint64_t step);
void corrupt_learn(struct corrupt *c, struct trainer *t);

/* corrupt_known(c): return the known samples, which belong to ${c}. */
const struct bad_set *corrupt_known(const struct corrupt *c);

#endif
