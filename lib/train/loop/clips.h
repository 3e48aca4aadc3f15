#ifndef TRAIN_LOOP_CLIPS_H
#define TRAIN_LOOP_CLIPS_H

/* How vt-train(1) and vt-bench(1) make clips for training. */

#include "data/loader.h"
#include "train/loop/views.h"

struct clip_settings {
	int sampler, crop_rule, flip, inverse, resize;
	double low, high, area;		/* of crops */
	double mixup, cutmix, jitter[4], erase;
	int64_t ops, level, repeat;
};

/* What is so unless it is set. */
#define CLIP_SETTINGS { .flip = 1, .low = 256, .high = 320, .area = 0.08, \
	.level = 9, .repeat = 1 }

/* clips_set(c, o): set sampler, crop and effects of ${o}. */
void clips_set(const struct clip_settings *c, struct loader_options *o);

#endif
