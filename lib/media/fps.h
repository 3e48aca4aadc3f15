#ifndef MEDIA_FPS_H
#define MEDIA_FPS_H

/* Frame rates and the times of frames, as exact fractions. */

#include <stddef.h>
#include <stdint.h>

#include "base/number.h"

/*
 * fps_parse(text, f):
 * A rate as people write it: "25", "29.97" or "30000/1001", above 0 and at
 * most 1000.  -1 without a message if ${text} is no such rate.
 */
int fps_parse(const char *text, struct fraction *f);

/*
 * fps_find(time, n, tick, hint, hints, found):
 * The rate of ${n} frames at ${time}[], ascending from 0, in ticks of ${tick}
 * seconds.  Return 1 if it is constant: frame i lies within a millisecond of
 * i / ${found}, which is what containers that count milliseconds leave of a
 * rate.  Rates that the file claims, ${hint}[], are tried first, then whole
 * numbers and their NTSC forms, then the mean.  Otherwise return 0, and
 * ${found} is the mean.  A single frame has the first sound hint.
 */
int fps_find(const int64_t *time, size_t n, struct fraction tick,
    const struct fraction *hint, int hints, struct fraction *found);

/* When a frame is on: from time to until, ticks from the first frame's. */
struct video_frame { int64_t time, until; };

/*
 * fps_gaps(frame, n, tick, first):
 * How often more than one and a half frame times lie between two of ${n}
 * frames of a constant rate, and nothing is on in between; ${*first} is the
 * frame before the first such gap.  The rate is constant if nine of ten frames,
 * or all but one of five to ten, come as long after the one before as half of
 * them do, to a quarter of that and a millisecond; others have no gaps.  Nor is
 * it a gap where some of the next frames come as much sooner: MPEG's streams say
 * a time once for several frames, which may be given to one too early, and no
 * frame is missing.  Sorts ${frame}[].
 */
size_t fps_gaps(struct video_frame *frame, size_t n, struct fraction tick,
    size_t *first);

/*
 * fps_shows(k, rate, time, until, tick):
 * 1 if frame ${k} of a video resampled to ${rate}, the one for k / ${rate}
 * seconds, is not after the frame that is on from ${time} to ${until}, in
 * ticks from the first frame: no later frame is strictly nearer.  So for each
 * frame in turn, "while (fps_shows(k, ...)) k++" gives every output frame the
 * input frame nearest in time, ties to the earlier; and the last frame is the
 * last that is not nearer to the end of the video than to its last frame.
 */
int fps_shows(int64_t k, struct fraction rate, int64_t time, int64_t until,
    struct fraction tick);

/* fps_100us(time, tick): ${time} >= 0 in units of 0.1 ms, rounded. */
int64_t fps_100us(int64_t time, struct fraction tick);

#endif
