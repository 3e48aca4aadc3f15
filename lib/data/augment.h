#ifndef DATA_AUGMENT_H
#define DATA_AUGMENT_H

/* Which part of the picture a clip shows: pure functions. */

#include "base/rng.h"
#include "media/image.h"

enum crop_rule {
	CROP_MULTISCALE,	/* TSN and TSM, GroupMultiScaleCrop */
	CROP_CENTRE		/* the centre, as in validation */
};

/* A crop of the stored picture, in whole pixels, and whether to mirror it. */
struct crop { int x, y, w, h, flip; };

/*
 * crop_train(w, h, side, may_flip, rng):
 * A crop for training at ${side}: width and height from {1, .875, .75, .66} of
 * the short side, at most one step apart, at one of 13 places; mirrored with
 * probability 1/2 if ${may_flip}.  Sizes within 3 pixels of ${side} become it.
 * ops/transforms.py of the TSM program, GroupMultiScaleCrop.
 */
struct crop crop_train(int w, int h, int side, int may_flip, struct rng *rng);

/* All pairs of sizes, and the 13 places of one: for tests and manuals. */
int crop_sizes(int w, int h, int side, int pair[][2]);
int crop_places(int w, int h, int crop_w, int crop_h, int place[13][2]);

/*
 * crop_test(w, h, side, view, views, full):
 * Crop ${view} of ${views} (1: centre; 3: left, right, centre or top, bottom,
 * centre; 5: corners and centre; 10: the five, then mirrored) for testing.
 * ${full} takes the whole short side; otherwise 224/256 of it, which is the
 * published "resize to 256, crop 224" at every side.
 */
struct crop crop_test(int w, int h, int side, int view, int views, int full);

#endif
