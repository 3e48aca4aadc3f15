#ifndef MEDIA_FPS_H
#define MEDIA_FPS_H

/* Frame rates and the times of frames, as exact fractions. */

#include <stddef.h>
#include <stdint.h>

#include "base/number.h"

/*
 * fps_parse(text, f):
 * Set ${*f} to the rate ${text}: "25", "29.97" or "30000/1001", above 0 and at
 * most 1000 frames per second.  Return 0, or -1 without a message if ${text} is
 * not such a rate.
 */
int fps_parse(const char *text, struct fraction *f);

/*
 * fps_find(time, n, tick, hint, hints, found):
 * Find the rate of ${n} frames at ${time}[], in ascending ticks of ${tick}
 * seconds from 0.  Return 1 if it is constant, and set ${*found} to it.
 * Constant means that frame i lies within a millisecond of i / ${found}:
 * containers that count milliseconds preserve a rate no better.  Otherwise
 * return 0 and set ${*found} to the mean.
 *
 * Candidates are tried in this order: the declared rates ${hint}[], of which
 * there are ${hints}; the integer nearest to the mean; its NTSC form, times
 * 1000/1001; the mean.  A single frame has the first valid hint, or 0/0 if
 * there is none.
 */
int fps_find(const int64_t *time, size_t n, struct fraction tick,
    const struct fraction *hint, int hints, struct fraction *found);

/*
 * The presentation interval of a frame, in ticks from the first frame's time.
 */
struct video_frame { int64_t time, until; };

/*
 * fps_gaps(frame, n, tick, first):
 * Count the gaps between ${n} frames of a constant rate, and set ${*first} to
 * the index of the frame before the first gap.  Sort ${frame}[] by time.
 *
 * The usual interval is the median of the intervals.  A gap is an interval
 * above 1.5 times the usual one.  In it no frame is displayed for more than
 * half of the usual one.  A millisecond of tolerance is added to both limits.
 *
 * The rate is constant if nine of ten intervals are within a quarter, and a
 * millisecond, of the usual one.  If there are at most ten intervals, all but
 * one must be.  Return 0 for other rates, and for fewer than 5 frames.
 *
 * An interval is not a gap if the next frames come early by the same time.
 * MPEG streams give several frames one time stamp, which may be attached to the
 * wrong frame although none is missing.
 */
size_t fps_gaps(struct video_frame *frame, size_t n, struct fraction tick,
    size_t *first);

/*
 * fps_shows(k, rate, time, until, tick):
 * Resample a video to ${rate}: output frame ${k} stands for the time k /
 * ${rate} seconds.  The input frame is displayed from ${time} to ${until}, in
 * ticks from the first frame's time.  Return 1 if the output time is not after
 * the middle of that interval.  No later input frame is then strictly nearer.
 *
 * For each input frame in turn, "while (fps_shows(k, ...)) k++" gives each
 * output frame the nearest input frame.  If two are equally near, it takes the
 * earlier.  The output ends with the last frame whose time is at least as near
 * to the last input frame as to the end of the video.
 */
int fps_shows(int64_t k, struct fraction rate, int64_t time, int64_t until,
    struct fraction tick);

/*
 * fps_100us(time, tick):
 * Return ${time}, at least 0, in units of 0.1 ms, rounded to nearest and at
 * most INT64_MAX.
 */
int64_t fps_100us(int64_t time, struct fraction tick);

#endif
