#ifndef CLIP_AUGMENT_H
#define CLIP_AUGMENT_H

/*
 * Which part of the frame a clip shows, the same in all its frames: pure
 * functions.  Frames are ${w} x ${h} pixels as they are stored, at least 1;
 * a crop lies inside the frame and is then resized to ${side} x ${side}.
 */

#include "base/rng.h"

/*
 * How crops are drawn in training.
 * MULTISCALE: TSN's and TSM's GroupMultiScaleCrop, of the stored frame.
 * JITTER: PySlowFast's: the frame is resized until its short side has a random
 * length, and a square is cut out of it anywhere.
 * JITTER_UPSTREAM: the same as the program does it, whose last row and column of
 * places is never drawn, and which keeps the greatest length where a multigrid
 * schedule has smaller crops.
 * RESIZED: a part of random area and shape, as Inception's (Szegedy et al. 2015)
 * and PySlowFast's random_resized_crop.
 * CENTRE: the centre, as in validation.
 */
enum crop_rule { CROP_MULTISCALE, CROP_JITTER, CROP_JITTER_UPSTREAM,
	CROP_RESIZED, CROP_CENTRE };
#define CROP_NAMES "multiscale|jitter|jitter-upstream|resized|centre"

/* And in testing: TSM's crops, or PySlowFast's. */
enum view_rule { VIEW_TSM, VIEW_PYSLOWFAST };

/*
 * A crop of the stored frame, in its pixels, not always whole ones; whether to
 * mirror it; and how it is resized, as image_resize has it: TSM's crops as
 * Pillow does.
 */
struct crop { double x, y, w, h; int flip, how; };

/* How a crop is resized: as its rule says, or otherwise; bilinear is then without
 * a cut, as all was in 0.1.0. */
enum resize_wish { RESIZE_BY_RULE, RESIZE_ALL_BILINEAR, RESIZE_ALL_ANTIALIAS };
#define RESIZE_NAMES "rule|bilinear|antialias"

struct crop_options {
	enum crop_rule rule;
	int flip;			/* mirror half of the clips */
	double low, high;		/* jitter: short sides, where crops are
					 * of 224 pixels */
	int inverse;			/* jitter: drawn evenly in 1 / length */
	double area;			/* resized: the smallest part */
	enum resize_wish resize;
};

/* The published ones: 256 to 320, and 0.08. */
extern const struct crop_options crop_usual;

/*
 * crop_train(o, w, h, side, clip):
 * A crop for training at ${side}; ${clip} is rng_clip of the clip's number.
 * Multi-scale: one of the pairs of sizes, then one of the 13 places, evenly
 * likely.  Jitter: lengths in proportion to ${side} / 224, in whole pixels, no
 * smaller than ${side}.  Resized: up to ten draws of an area, evenly, and of a
 * ratio of 3/4 to 4/3, evenly in its logarithm; if none fits, the largest part
 * in the middle that has such a ratio.
 * crop_jitter(o, side, low, high): those lengths.
 * crop_view(rule): whose crops go with it in validation.
 */
struct crop crop_train(const struct crop_options *o, int w, int h, int side,
    struct rng clip);
void crop_jitter(const struct crop_options *o, int side, int *low, int *high);
enum view_rule crop_view(enum crop_rule rule);

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
 * crop_test(rule, w, h, side, view, views, full):
 * Crop ${view} of ${views} at ${side} for testing: of the frame resized until
 * its short side is ${side} if ${full}, otherwise 256/224 of it, which is the
 * published "short side to 256, crop 224", at every side.
 * VIEW_TSM: 1: the centre; 3: left, right and centre, or top, bottom and centre
 * of an upright frame; 5: the corners and the centre; 10: those five, then the
 * five mirrored.  GroupCenterCrop, GroupFullResSample (which takes left and right
 * of upright frames too) and GroupOverSample of the TSM program.
 * VIEW_PYSLOWFAST: 1: the centre; 3: left, centre and right, or top, centre and
 * bottom.  uniform_crop of that program.
 * crop_test_known(rule, views): 1 if there is such a protocol, else 0.
 * crop_scaled(rule, w, h, size, to): the frame's width and height with a short
 * side of ${size}.
 */
struct crop crop_test(enum view_rule rule, int w, int h, int side, int view,
    int views, int full);
int crop_test_known(enum view_rule rule, int views);
void crop_scaled(enum view_rule rule, int w, int h, int size, int to[2]);

#endif
