#ifndef CLIP_CLIP_H
#define CLIP_CLIP_H

/*
 * Choose the frames of a clip.  All functions are pure, cannot fail, and are
 * tested against tables printed by the published programs.  Frames are numbered
 * from 0.  A clip has ${t} of the ${total} frames of a video, both at least 1.
 */

#include "base/rng.h"

/*
 * How frames are chosen.
 *
 * TSM: the video is split into T equal segments, each of which gives one frame:
 * a random one in training, the middle one in testing (TSN, Wang et al. 2016;
 * Lin et al. 2019, ops/dataset.py).  A video of T frames gives each frame
 * once.  In a shorter video, segments are shorter than a frame: the clip still
 * runs from beginning to end, with frames repeated.
 *
 * TSM_UPSTREAM: TSM as the published program does it.  Frame 0 is repeated T
 * times in validation for a video of at most T frames, and in training for one
 * of fewer.
 *
 * DENSE: a window of 64 frames, from which T frames are taken, 64 div T apart.
 * It wraps around at the end of the video (the same program's dense sampling,
 * after I3D).
 *
 * SSV2: T segments with boundaries rint(i (n - 1) / T), both ends included, as
 * in PySlowFast for Something-Something (datasets/ssv2.py).
 *
 * With a stride, all of these except SSV2 take a window of T frames ${stride}
 * apart (Feichtenhofer et al. 2019, section 4).  The next three require a
 * stride.
 *
 * PYSLOWFAST: the window as PySlowFast decodes it (datasets/decoder.py).  It
 * lasts T strides at 30 frames per second, whatever the rate of the video.  Its
 * T frames are spread evenly from its first to its last.
 *
 * CHARADES: the window as in PySlowFast for Charades (datasets/charades.py).
 *
 * MMACTION2: the window as in MMAction2 (SampleFrames, transforms/loading.py).
 * It starts again at the first frame after the last one.
 */
enum sampler { SAMPLER_TSM, SAMPLER_TSM_UPSTREAM, SAMPLER_DENSE, SAMPLER_SSV2,
	SAMPLER_PYSLOWFAST, SAMPLER_CHARADES, SAMPLER_MMACTION2 };

/* The input of a choice of frames. */
struct clip_input {
	int total;			/* number of frames of the video */
	int t;				/* number of frames of the clip */
	int stride;			/* distance of frames; 0: no stride */
	double fps;			/* frame rate of the video; 0:
					 * unknown */
};

/*
 * clip_train(s, v, clip, frame):
 * Write the frames of a training clip to ${frame}[t].  ${clip} is rng_clip of
 * its global number.  A sampler that needs a stride must have one.
 *
 * TSM: each of T segments of total div T frames gives one frame, uniformly.  Up
 * to T - 1 frames at the end are never drawn, as published.  Below T frames,
 * take frame floor((i + u) total / T) for u in [0, 1).
 *
 * DENSE: the window starts at 0 to total - 65.  The published program never
 * draws the last possible start.
 *
 * With a stride: the window starts anywhere it fits in the video, uniformly.
 * If the video is shorter, its last frame is repeated.  Under CHARADES the
 * window may start before the video; then the first frame is repeated, too.
 * PYSLOWFAST starts at a uniform time, also between frames.  MMACTION2 leaves
 * a whole stride after the last frame of the window, too, or starts at 0.
 */
void clip_train(enum sampler s, const struct clip_input *v, struct rng clip,
    int *frame);

/*
 * clip_validate(s, v, frame):
 * Write the frames of the one clip that is scored between epochs: the segment
 * centers, or the window in the middle.  The published programs draw a random
 * window here.
 */
void clip_validate(enum sampler s, const struct clip_input *v, int *frame);

/*
 * clip_test(s, v, view, views, frame):
 * Write the frames of clip ${view} of ${views} of the test protocol; ${views}
 * is at most clip_test_max.
 *
 * Segments: view 0 takes the centers; view 1 of 2 ("twice") takes the first
 * frames.  SSV2 has only the centers.
 *
 * Windows: starts are spread evenly from the first to the last possible one,
 * rounded down, under CHARADES and MMACTION2 to the nearest.  A single window
 * with a stride lies in the middle.  Under PYSLOWFAST start k of n is k / n of
 * the way, without rounding, so the last possible start is not used.
 */
void clip_test(enum sampler s, const struct clip_input *v, int view, int views,
    int *frame);

/* clip_test_max(s, stride): return the maximum number of views of ${s}. */
int clip_test_max(enum sampler s, int stride);

/* clip_needs_stride(s): return 1 if ${s} requires a stride, 0 otherwise. */
int clip_needs_stride(enum sampler s);

#endif
