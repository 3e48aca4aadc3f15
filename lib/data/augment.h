#ifndef DATA_AUGMENT_H
#define DATA_AUGMENT_H

/*
 * Which part of the frame a clip shows, the same in all its frames: pure
 * functions.  Frames are ${w} x ${h} pixels as they are stored, at least 1;
 * a crop lies inside the frame and is then resized to ${side} x ${side}.
 */

#include "base/rng.h"

enum crop_rule {
	CROP_MULTISCALE,	/* TSN and TSM, GroupMultiScaleCrop */
	CROP_CENTRE		/* the centre, as in validation */
};

/*
 * A crop of the stored frame, in its pixels, not always whole ones; whether to
 * mirror it; and how it is resized, as image_resize has it: TSM's crops as
 * Pillow does.
 */
struct crop { double x, y, w, h; int flip, how; };

/*
 * crop_train(rule, w, h, side, may_flip, clip):
 * A crop for training at ${side}; ${clip} is rng_clip of the clip's number.
 * Multi-scale: one of the pairs of sizes, then one of the 13 places, evenly
 * likely.  Mirrored with probability 1/2 if ${may_flip}.
 */
struct crop crop_train(enum crop_rule rule, int w, int h, int side,
    int may_flip, struct rng clip);

/*
 * crop_sizes(w, h, side, pair):
 * The pairs (width, height) a multi-scale crop is drawn from: each of {1,
 * .875, .75, .66} of the short side, rounded down, at most one step apart; a
 * size within 2 pixels of ${side} becomes it, unless the frame is smaller.
 * Return how many there are: 10.
 * ops/transforms.py of the TSM program, GroupMultiScaleCrop.
 */
#define CROP_SIZES 10
int crop_sizes(int w, int h, int side, int pair[CROP_SIZES][2]);

/*
 * crop_places(w, h, crop_w, crop_h, place):
 * The 13 places (x, y) of a crop: corners and centre, the middles of the
 * edges, and the quarters between centre and corners.  In small frames some
 * are the same.  Same source, fill_fix_offset.
 */
#define CROP_PLACES 13
void crop_places(int w, int h, int crop_w, int crop_h,
    int place[CROP_PLACES][2]);

/*
 * crop_test(w, h, view, views, full):
 * Crop ${view} of ${views} for testing.  1: the centre; 3: left, right and
 * centre, or top, bottom and centre of an upright frame; 5: the corners and
 * the centre; 10: those five, then the five mirrored.  A square of the whole
 * short side if ${full}; otherwise of 224/256 of it, which is the published
 * "short side to 256, crop 224", at every side.  Same program, GroupCenterCrop,
 * GroupFullResSample (which takes left and right of upright frames too) and
 * GroupOverSample.
 * crop_test_known(views): 1 if there is such a protocol, else 0.
 */
struct crop crop_test(int w, int h, int view, int views, int full);
int crop_test_known(int views);

#endif
