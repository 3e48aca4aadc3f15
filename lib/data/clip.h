#ifndef DATA_CLIP_H
#define DATA_CLIP_H

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
 */
enum sampler { SAMPLER_TSM, SAMPLER_TSM_UPSTREAM, SAMPLER_DENSE };

/*
 * clip_train(s, total, t, clip, frame):
 * Write the frames of a training clip to ${frame}[t]; ${clip} is rng_clip of
 * its number.  Of T equal segments of total div T frames each gives one,
 * evenly likely, so up to T - 1 frames at the end are never drawn, as
 * published; below T frames, frame floor((i + u) total / T) for u in [0, 1).
 * A dense window starts at 0 to total - 65: the published program never draws
 * the last possible start.
 */
void clip_train(enum sampler s, int total, int t, struct rng clip, int *frame);

/*
 * clip_validate(s, total, t, frame):
 * The one clip that is scored between epochs: segment centres, or the dense
 * window in the middle.  (The published program draws that one at random.)
 */
void clip_validate(enum sampler s, int total, int t, int *frame);

/*
 * clip_test(s, total, t, view, views, frame):
 * Clip ${view} of ${views} of the test protocol.  Segments: 1 is the centres,
 * 2 ("twice") the centres, then the beginnings.  Dense: any number of starts,
 * spread evenly from the first to the last, rounded down.
 * clip_test_most(s): the largest ${views} that ${s} knows.
 */
void clip_test(enum sampler s, int total, int t, int view, int views,
    int *frame);
int clip_test_most(enum sampler s);

/*
 * clip_strided(total, t, stride, clip, frame):
 * A training clip of frames ${stride} apart, for schedules that say so: the
 * window starts anywhere in the video that it fits, evenly likely; where the
 * video is shorter its last frame is repeated.
 * clip_strided_test(total, t, stride, view, views, frame):
 * Window ${view} of ${views}, spread evenly from the first to the last place,
 * rounded down; a single one lies in the middle.
 * Feichtenhofer et al. 2019, section 4.
 */
void clip_strided(int total, int t, int stride, struct rng clip, int *frame);
void clip_strided_test(int total, int t, int stride, int view, int views,
    int *frame);

#endif
