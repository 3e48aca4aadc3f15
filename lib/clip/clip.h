#ifndef CLIP_CLIP_H
#define CLIP_CLIP_H

/*
 * Which frames of a video make a clip: pure functions, tested against tables
 * that the published programs printed.  Frames are numbered from 0; a clip has
 * ${t} of a video's ${total}, both at least 1.  Nothing here can fail.
 */

#include "base/rng.h"

/*
 * How frames are chosen.
 * TSM: the video is cut into T equal segments and one frame is taken from
 * each, at random in training and from the middle in testing (TSN, Wang et
 * al. 2016; Lin et al. 2019, ops/dataset.py).  A video of T frames gives each
 * frame once; of a shorter one the segments are parts of frames, so that it is
 * still seen in order from end to end, with frames repeated.
 * TSM_UPSTREAM: the same, as the published program does it: a video of T
 * frames or fewer gives frame 0 T times in validation, and one of fewer in
 * training.
 * DENSE: a window of 64 frames, T of them 64 div T apart, wrapping around at
 * the end of the video (the same program's dense sampling, after I3D).
 * SSV2: T segments whose borders are rint(i (n - 1) / T), both ends included, as
 * PySlowFast has it for Something-Something (datasets/ssv2.py).
 * Where a stride is asked for, these but SSV2 give a window of frames that far
 * apart (Feichtenhofer et al. 2019, section 4); and it must be for these two:
 * PYSLOWFAST: such a window as that program decodes it (datasets/decoder.py):
 * it lasts T strides at 30 frames a second, whatever those of the video are, and
 * its T frames are spread from its first to its last.
 * CHARADES: such a window as the same program has it for Charades
 * (datasets/charades.py).
 */
enum sampler { SAMPLER_TSM, SAMPLER_TSM_UPSTREAM, SAMPLER_DENSE, SAMPLER_SSV2,
	SAMPLER_PYSLOWFAST, SAMPLER_CHARADES };

/* What a clip is chosen from, and what is asked for. */
struct clip_of {
	int total;			/* frames of the video */
	int t;				/* of the clip */
	int stride;			/* 0: none is asked for */
	double fps;			/* of the video; 0: not known */
};

/*
 * clip_train(s, v, clip, frame):
 * Write the frames of a training clip to ${frame}[t]; ${clip} is rng_clip of
 * its number.
 * TSM: of T equal segments of total div T frames each gives one, evenly
 * likely, so up to T - 1 frames at the end are never drawn, as published;
 * below T frames, frame floor((i + u) total / T) for u in [0, 1).
 * DENSE: the window starts at 0 to total - 65: the published program never draws
 * the last possible start.
 * With a stride: the window starts anywhere in the video that it fits, evenly
 * likely; where the video is shorter its last frame is repeated, and under
 * CHARADES the first, too, since the window may start before it.
 * PYSLOWFAST starts between frames, evenly likely.
 */
void clip_train(enum sampler s, const struct clip_of *v, struct rng clip,
    int *frame);

/*
 * clip_validate(s, v, frame):
 * The one clip that is scored between epochs: segment centres, or the window
 * in the middle.  (The published programs draw a window at random.)
 */
void clip_validate(enum sampler s, const struct clip_of *v, int *frame);

/*
 * clip_test(s, v, view, views, frame):
 * Clip ${view} of ${views} of the test protocol.  Segments: 1 is the centres,
 * 2 ("twice") the centres, then the beginnings; SSV2 has the centres alone.
 * Windows: any number of starts, spread evenly from the first to the last,
 * rounded down, to the nearest under CHARADES; a single one with a stride lies
 * in the middle.  Under PYSLOWFAST start k of n is at k / n of the way, not
 * rounded, so that the last is not the last possible one.
 * clip_test_most(s, stride): the largest ${views} that ${s} knows.
 */
void clip_test(enum sampler s, const struct clip_of *v, int view, int views,
    int *frame);
int clip_test_most(enum sampler s, int stride);

/* clip_needs_stride(s): there must be one. */
int clip_needs_stride(enum sampler s);

#endif
