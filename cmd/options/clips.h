#ifndef CMD_OPTIONS_CLIPS_H
#define CMD_OPTIONS_CLIPS_H

/* Options of clips for training, of vt-train(1) and vt-bench(1). */

#include "train/loop/views.h"

#include "common.h"

/* The level of frames to read; also of vt-eval(1). */
#define OPTION_LEVEL(to, modes) \
	{ 0, "level", OPTION_CHOICE, to, "WHICH", \
	    "read levels by crop size, or only the largest (%)", \
	    LEVEL_NAMES, 0, 0, (modes) }

/* The rows of a struct clip_settings ${c}. */
#define OPTION_CLIPS(c, modes) \
	OPTION_SAMPLER(&(c).sampler, modes), \
	{ 0, "crop-rule", OPTION_CHOICE, &(c).crop_rule, "RULE", \
	    "choose crops: jitter, resized, ... (%)", \
	    CROP_NAMES, 0, 0, OPTION_COMMON | (modes) }, \
	{ 0, "jitter-min", OPTION_REAL, &(c).low, "PIXELS", \
	    "jitter: set the minimal short side, crop 224 (%)", \
	    NULL, 224, 4096, (modes) }, \
	{ 0, "jitter-max", OPTION_REAL, &(c).high, "PIXELS", \
	    "jitter: set the maximal short side, crop 224 (%)", \
	    NULL, 224, 4096, (modes) }, \
	{ 0, "jitter-inverse", OPTION_FLAG, &(c).inverse, NULL, \
	    "jitter: draw 1 / length uniformly, not the length", \
	    NULL, 0, 0, (modes) }, \
	{ 0, "crop-area", OPTION_REAL, &(c).area, "PART", \
	    "resized: set the smallest part of the frame (%)", \
	    NULL, 0.001, 1, (modes) }, \
	{ 0, "crop-scales", OPTION_TEXT, &(c).scales, "LIST", \
	    "list the scales of multiscale (%)", \
	    NULL, 0, 0, (modes) }, \
	{ 0, "crop-distort", OPTION_INT, &(c).distort, "N", \
	    "multiscale: allow N steps from width to height (%)", \
	    NULL, 0, 7, (modes) }, \
	{ 0, "crop-positions", OPTION_CHOICE, &(c).five, "N", \
	    "multiscale: draw one of 13 or 5 positions (%)", \
	    "13|5", 0, 0, (modes) }, \
	{ 0, "resize", OPTION_CHOICE, &(c).resize, "HOW", \
	    "resize crops by rule, bilinear or antialias (%)", \
	    RESIZE_NAMES, 0, 0, (modes) }, \
	OPTION_LEVEL(&(c).level, modes), \
	{ 0, "flip", OPTION_FLAG, &(c).flip, NULL, \
	    "flip half of the clips horizontally (%)", \
	    NULL, 0, 0, OPTION_COMMON | (modes) }, \
	{ 0, "rand-augment", OPTION_INT, &(c).ops, "N", \
	    "apply N operations of RandAugment to a clip (%)", \
	    NULL, 0, EFFECTS_OPS, (modes) }, \
	{ 0, "rand-level", OPTION_INT, &(c).strength, "M", \
	    "set the strength of RandAugment, of 30 (%)", NULL, 0, 30, (modes) }, \
	{ 0, "brightness", OPTION_REAL, &(c).jitter[0], "X", \
	    "vary the brightness by 1 - X to 1 + X (%)", \
	    NULL, 0, 10, (modes) }, \
	{ 0, "contrast", OPTION_REAL, &(c).jitter[1], "X", \
	    "vary the contrast by 1 - X to 1 + X (%)", NULL, 0, 10, (modes) }, \
	{ 0, "saturation", OPTION_REAL, &(c).jitter[2], "X", \
	    "vary the saturation by 1 - X to 1 + X (%)", NULL, 0, 10, (modes) }, \
	{ 0, "hue", OPTION_REAL, &(c).jitter[3], "X", \
	    "shift the hue by -X to X of a full circle (%)", NULL, 0, 0.5, (modes) }, \
	{ 0, "random-erase", OPTION_REAL, &(c).erase, "PART", \
	    "erase a random box in this part of the clips (%)", \
	    NULL, 0, 1, (modes) }, \
	{ 0, "mixup", OPTION_REAL, &(c).mixup, "A", \
	    "mix clips by MixUp, lambda of Beta(A, A) (%: off)", \
	    NULL, 0, 16, (modes) }, \
	{ 0, "cutmix", OPTION_REAL, &(c).cutmix, "A", \
	    "swap boxes by CutMix, lambda of Beta(A, A) (%: off)", \
	    NULL, 0, 16, (modes) }, \
	{ 0, "repeat", OPTION_INT, &(c).repeat, "N", \
	    "use each sample for N clips in a row (%)", NULL, 1, 64, (modes) }

/* clips_check(c): end the program if settings contradict each other. */
void clips_check(const struct clip_settings *c);

#endif
