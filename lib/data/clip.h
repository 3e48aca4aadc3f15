#ifndef DATA_CLIP_H
#define DATA_CLIP_H

/*
 * Which frames of a video make a clip, and which part of the picture: pure
 * functions, tested against tables that the published programs printed.
 */

#include "base/rng.h"
#include "media/image.h"

/*
 * How frames are chosen.
 * TSM: the video is cut into T equal segments and one frame is taken from
 * each, at random in training and from the middle in testing (TSN, Wang et
 * al. 2016; Lin et al. 2019, ops/dataset.py).  A video of exactly T frames
 * gives each frame once.
 * TSM_UPSTREAM: the same, as the published program does it: in validation a
 * video of T frames or fewer gives frame 0 T times.
 * DENSE: a window of 64 frames, T of them at a fixed stride, wrapping around.
 */
enum sampler { SAMPLER_TSM, SAMPLER_TSM_UPSTREAM, SAMPLER_DENSE };

/*
 * clip_train(s, total, t, rng, frame):
 * Frame numbers, from 0, of a training clip of ${t} frames out of ${total}.
 */
void clip_train(enum sampler s, int total, int t, struct rng *rng, int *frame);

/*
 * clip_validate(s, total, t, frame): the one clip of the validation protocol.
 * clip_test(s, total, t, view, views, frame): clip ${view} of ${views} of the
 * test protocol: 1 or 2 ("twice") for segments, any number for dense.
 */
void clip_validate(enum sampler s, int total, int t, int *frame);
void clip_test(enum sampler s, int total, int t, int view, int views,
    int *frame);

#endif
