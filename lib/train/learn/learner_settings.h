#ifndef TRAIN_LEARN_LEARNER_SETTINGS_H
#define TRAIN_LEARN_LEARNER_SETTINGS_H

/* Settings of K-step averaging (train/learn/learners.h). */

#include <stdint.h>

/*
 * Optimizer state after an average: the mean over learners, initial values, or
 * unchanged in each learner.
 */
enum average_state { STATE_AVERAGE, STATE_RESET, STATE_KEEP };

/* The options of learners; see vt-train(1). */
struct learner_settings {
	int64_t n;			/* number of learners; 0: none */
	int64_t every;			/* steps between averages */
	enum average_state state;	/* of the optimizer, at an average */
	int noise;			/* 1: log the noise scale */
	int64_t grow;			/* largest factor on the batch */
	int64_t grow_by, grow_after;	/* factor; consecutive averages */
	double grow_above;		/* growth if noise scale / batch exceeds
					 * it */
};

/* The defaults. */
#define LEARNER_SETTINGS { .every = 8, .grow_by = 2, .grow_after = 3, \
	.grow_above = 1 }

#endif
