#ifndef CLIP_AUGMENT_H
#define CLIP_AUGMENT_H

/*
 * Choose the crop of a clip, which is the same in all its frames.  All
 * functions are pure and cannot fail.  Frames are ${w} x ${h} pixels as stored,
 * at least 1 by 1.  A crop lies inside the frame and is then resized to ${side}
 * x ${side}.
 */

#include "base/rng.h"

/*
 * How crops are drawn in training.
 *
 * MULTISCALE: GroupMultiScaleCrop of TSN and TSM, MultiScaleCrop of MMAction2,
 * of the stored frame.
 *
 * JITTER: PySlowFast's scale jitter.  The frame is resized to a random short
 * side, and a square is cut out at a random position.
 *
 * JITTER_UPSTREAM: JITTER as PySlowFast's program does it.  It never draws the
 * last row and column of positions.  It keeps the maximum length when a
 * multigrid schedule makes crops smaller.
 *
 * RESIZED: a region of random area, from o->area to all of the frame, and of
 * random aspect ratio, as Inception's (Szegedy et
 * al. 2015) and PySlowFast's random_resized_crop.
 *
 * CENTER: the center crop, as in validation.
 *
 * CROP_NAMES has the same order.  Checkpoints store the name.
 */
enum crop_rule { CROP_MULTISCALE, CROP_JITTER, CROP_JITTER_UPSTREAM,
	CROP_RESIZED, CROP_CENTER };
#define CROP_NAMES "multiscale|jitter|jitter-upstream|resized|centre"

/* Whose crops are used in testing: TSM's, or PySlowFast's. */
enum view_rule { VIEW_TSM, VIEW_PYSLOWFAST };

/*
 * A crop in pixels of the stored frame; edges may be fractional.  Mirror it if
 * ${flip}.  ${how} is image_resize's: RESIZE_ANTIALIAS for TSM's crops,
 * RESIZE_BILINEAR for the others, with or without RESIZE_CUT.
 */
struct crop { double x, y, w, h; int flip, how; };

/*
 * The filter: that of the crop rule, or one for all.  RESIZE_ALL_BILINEAR
 * ignores RESIZE_CUT.
 */
enum resize_filter { RESIZE_BY_RULE, RESIZE_ALL_BILINEAR,
RESIZE_ALL_ANTIALIAS };
#define RESIZE_NAMES "rule|bilinear|antialias"

#define CROP_SCALES_MAX 8

/* The options of training crops. */
struct crop_options {
	enum crop_rule rule;
	int flip;			/* 1: mirror half of the clips */
	double low, high;		/* jitter: range of short sides in
					 * pixels, for crops of 224 pixels */
	int inverse;			/* jitter: 1 / length is uniform, not
					 * length */
	double area;			/* resized: minimum fraction of the
					 * frame's area */
	/* multiscale: [scales] parts of the short side, 0 to 1; the most steps
	 * between that of the width and that of the height; positions, 5 or
	 * CROP_POSITIONS */
	double scale[CROP_SCALES_MAX];
	int scales, distort, positions;
	enum resize_filter resize;
	int largest;			/* 1: always read the largest level
					 * (clip/cover.h) */
};

/*
 * The published options: multiscale as in TSM, mirrored; a jitter of 256 to
 * 320; an area of at least 0.08.  CLIP_SETTINGS (train/loop/views.h) repeats
 * them for the options of commands: change both.
 */
extern const struct crop_options crop_defaults;

/*
 * crop_parse_scales(text, o):
 * Set the scales of ${o} to those in ${text}, above 0 and at most 1, separated
 * by commas.  Return 0, or -1 without a message.
 */
int crop_parse_scales(const char *text, struct crop_options *o);

/*
 * crop_train(o, w, h, side, clip):
 * Return a random crop for training at ${side}.  ${clip} is rng_clip of the
 * clip's global number; equal arguments give equal crops.
 *
 * Multiscale: draw a pair of crop_sizes, then one of the first o->positions of
 * crop_positions, both uniformly.
 *
 * Jitter: draw a short side between the lengths of crop_jitter, then a
 * position.
 *
 * Resized: draw up to ten times an area, uniform from o->area to 1 of the
 * frame, and a ratio of 3/4 to 4/3,
 * uniform in its logarithm.  If none fits, take the largest centered region
 * with such a ratio.
 */
struct crop crop_train(const struct crop_options *o, int w, int h, int side,
    struct rng clip);

/*
 * crop_jitter(o, side, low, high):
 * Set ${*low} and ${*high} to the range of short sides of the jitter rules at
 * ${side}: in proportion to ${side} / 224, in whole pixels, at least ${side}.
 * JITTER_UPSTREAM does not scale ${*high}.
 */
void crop_jitter(const struct crop_options *o, int side, int *low, int *high);

/*
 * crop_view(rule):
 * Return whose crops validate a run with ${rule}: VIEW_TSM for MULTISCALE and
 * CENTER, otherwise VIEW_PYSLOWFAST.
 */
enum view_rule crop_view(enum crop_rule rule);

/*
 * crop_sizes(o, w, h, side, pair):
 * Set ${pair} to the pairs (width, height) of a multiscale crop, and return
 * their number.  Widths and heights are the scales of the short side, rounded
 * down, and at most o->distort steps apart.  A size within 2 pixels of ${side}
 * becomes ${side}, unless the frame is smaller.  Source: GroupMultiScaleCrop,
 * ops/transforms.py of the TSM program.
 */
#define CROP_SIZES_MAX (CROP_SCALES_MAX * CROP_SCALES_MAX)
int crop_sizes(const struct crop_options *o, int w, int h, int side,
    int pair[CROP_SIZES_MAX][2]);

/*
 * crop_positions(w, h, crop_w, crop_h, place):
 * Set ${place} to the 13 positions (x, y) of a crop: corners and center, the
 * middles of the edges, and the points halfway between center and corners.  In
 * small frames some coincide.  Source: fill_fix_offset, in the same file.
 */
#define CROP_POSITIONS 13
void crop_positions(int w, int h, int crop_w, int crop_h,
    int place[CROP_POSITIONS][2]);

/*
 * crop_test(rule, w, h, side, view, views, full):
 * Return crop ${view} of ${views} for testing at ${side}; crop_test_known(rule,
 * views) must hold.  The frame is resized to a short side of ${side} if
 * ${full}, else of 256/224 of it.  This is the published "short side to 256,
 * crop 224", at every side.
 *
 * VIEW_TSM, 1 view: center.  3 views: left, right and center; in portrait
 * frames top, bottom and center.  5 views: corners and center.  10 views: those
 * five, then the same mirrored.  Source: GroupCenterCrop, GroupFullResSample
 * (which takes left and right of portrait frames, too) and GroupOverSample of
 * the TSM program.
 *
 * VIEW_PYSLOWFAST, 1 view: center.  3 views: left, center and right; in
 * portrait frames top, center and bottom.  Source: uniform_crop of PySlowFast.
 */
struct crop crop_test(enum view_rule rule, int w, int h, int side, int view,
    int views, int full);

/*
 * crop_test_known(rule, views):
 * Return 1 if ${rule} defines ${views} crops, 0 otherwise.
 */
int crop_test_known(enum view_rule rule, int views);

/*
 * crop_scaled(rule, w, h, size, to):
 * Set ${to} to the width and height of the frame resized to a short side of
 * ${size}.
 */
void crop_scaled(enum view_rule rule, int w, int h, int size, int to[2]);

#endif
