#ifndef TRAIN_LOOP_CLIPS_H
#define TRAIN_LOOP_CLIPS_H

/* Settings of training clips, for vt-train(1) and vt-bench(1). */

#include "data/loader.h"
#include "train/loop/views.h"

/* Which level to read: the smallest that covers a crop (clip/cover.h), or the
 * largest. */
enum { LEVEL_AUTO, LEVEL_LARGEST };
#define LEVEL_NAMES "auto|largest"

/* clip/augment.h and clip/transforms.h explain the values and their ranges. */
struct clip_settings {
	int sampler, crop_rule, flip, inverse, resize;
	int level;			/* LEVEL_AUTO, LEVEL_LARGEST */
	double low, high, area;		/* jitter: short sides, in pixels for a
					 * crop of 224; resized: the smallest
					 * part of the frame, 0 to 1 */
	double mixup, cutmix, jitter[4], erase;
	int64_t ops, strength, repeat;
};

/* The defaults. */
#define CLIP_SETTINGS { .flip = 1, .low = 256, .high = 320, .area = 0.08, \
	.strength = 9, .repeat = 1 }

/* clips_set(c, o): copy ${c} to the sampler, crop and effects of ${o}; leave
 * the other fields as they are. */
void clips_set(const struct clip_settings *c, struct loader_options *o);

#endif
