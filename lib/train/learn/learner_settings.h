#ifndef TRAIN_LEARN_LEARNER_SETTINGS_H
#define TRAIN_LEARN_LEARNER_SETTINGS_H

/* Settings of K-step averaging (train/learn/learners.h). */

#include <stdint.h>

enum average_state { STATE_AVERAGE, STATE_RESET, STATE_KEEP };

struct learner_settings {
	int64_t n;			/* 0: there are none */
	int64_t every;			/* steps from average to average */
	enum average_state state;	/* of the optimizer, at an average */
	int64_t groups, group_every;	/* averages inside groups; 0: none */
	int noise;			/* log how far they move apart */
	int64_t grow;			/* the batch, at most so many times */
	int64_t grow_by, grow_after;	/* times; averages in a row */
	double grow_above;		/* noise scale over batch */
	double outer_momentum, outer_lr;
};

/* The defaults. */
#define LEARNER_SETTINGS { .every = 8, .group_every = 1, .outer_lr = 1, \
	.grow_by = 2, .grow_after = 3, .grow_above = 1 }

#endif
