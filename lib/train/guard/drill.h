#ifndef TRAIN_GUARD_DRILL_H
#define TRAIN_GUARD_DRILL_H

/*
 * A fault on purpose, to see that it is found.  VT_FLIP_BIT in the environment
 * flips one bit, once: STEP:RANK:MICROBATCH in that rank's gradient of that
 * microbatch, as it first computes it, STEP:RANK:w in its weights after the
 * step's update.  Steps count from 1.
 */

#include "train/loop/trainer.h"

struct drill {
	uint64_t step;			/* 0: none */
	int rank, index;		/* index -1: the weights */
};

/* drill_read(d): from the environment; -1 after a message. */
int drill_read(struct drill *d);

/* drill_due(d, t, index): in the step under way, by this rank? */
int drill_due(const struct drill *d, const struct trainer *t, int index);

/* drill_flip(d, t, flat): a bit of a flat buffer of parameters. */
void drill_flip(const struct drill *d, const struct trainer *t, void *flat);

#endif
