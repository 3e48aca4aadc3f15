#ifndef TRAIN_LOOP_VIEWS_H
#define TRAIN_LOOP_VIEWS_H

/*
 * Settings of training clips, and test protocols: the views by which a sample
 * is scored, and how their scores are combined.
 */

#include "data/loader.h"
#include "train/run/checkpoint.h"

/* Names that vt-eval(1) explains, as choices of an option row. */
#define VIEWS_NAMES "auto|tsm|tsm-twice|tsm-dense|pyslowfast|ssv2|charades"
#define VIEWS_SAMPLERS "tsm|tsm-upstream|dense|ssv2|pyslowfast|charades|" \
	"mmaction2"

/*
 * views_set(protocol, st, v):
 * Set sampler, rule, stride, clips, crops, full and ensemble of ${v} to those
 * of ${protocol}, its index in VIEWS_NAMES, and ${v}->largest as in that run.
 * Protocol 0, auto, is one clip and one crop, as in the validations of the run
 * that wrote checkpoint ${st}; only it sets ${v}->validate to 1.
 */
void views_set(int protocol, const struct state *st, struct view_options *v);

/* views_check(v): check that ${v} has a stride if its sampler needs one, and
 * that sampler and rule allow its clips and crops.  Return 0, or -1 after a
 * message. */
int views_check(const struct view_options *v);

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
	const char *scales;		/* multiscale, as typed */
	int64_t distort;
	int five;			/* positions: 5, not 13 */
	double mixup, cutmix, jitter[4], erase;
	int64_t ops, strength, repeat;
};

/* The defaults. */
#define CLIP_SETTINGS { .flip = 1, .low = 256, .high = 320, .area = 0.08, \
	.scales = "1,0.875,0.75,0.66", .distort = 1, .strength = 9, \
	.repeat = 1 }

/* clip_settings_apply(c, o): copy ${c}, whose scales can be parsed, to the
 * sampler, crop and effects of ${o}; leave the other fields as they are. */
void clip_settings_apply(const struct clip_settings *c,
    struct loader_options *o);

#endif
