#ifndef CLIP_COVER_H
#define CLIP_COVER_H

/*
 * Choose the level that a clip is read from: the smallest that covers its
 * shape.  The choice depends on the crop size and the crop rule, not on the
 * sample or on load.  Geometry is drawn in pixels of the largest level, so the
 * choice changes pixels by resampling alone.
 *
 * Let the smallest window be the smallest square that the crop rule may cut out
 * for a crop of c pixels, as a part w(c) of the short side.  A level with a
 * short side of S enlarges it by c / (w(c) S).  The level covers the crop if
 * this is at most 1, or at most 224 / (w(224) 256): published programs store
 * frames with a short side of 256 for crops of 224.
 */

#include "clip/augment.h"
#include "shard/level.h"

/*
 * cover_train(l, o, side):
 * Return the number of the smallest level of ${l} that covers training crops of
 * ${side} pixels by ${o}, or 0, the largest, if no other does or o->largest.
 *
 * The smallest window is 0.66 of the short side for MULTISCALE.  It is side /
 * high for JITTER and JITTER_UPSTREAM, with high of crop_jitter.  It is
 * sqrt(0.75 o->area) for RESIZED, and that of cover_test for CENTER.
 */
int cover_train(const struct level_list *l, const struct crop_options *o,
    int side);

/*
 * cover_test(l, side, full):
 * Return the same for crop_test(): the window is 1 of the short side if
 * ${full}, otherwise 224/256.
 */
int cover_test(const struct level_list *l, int side, int full);

#endif
