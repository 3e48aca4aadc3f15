/* The times of frames: their time stamps, and what replaces wrong ones. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "media/ffmpeg/ff.h"

#define REORDER 16		/* maximum frames by which a decoder reorders */

void
video_mark_shown(struct video *v, int64_t time, int64_t until)
{
	v->shown = array_reserve(v->shown, v->nshown, &v->cap,
	    sizeof(*v->shown));
	v->shown[v->nshown++] = (struct video_frame){ time, until };
}

void
video_mark_end(struct video *v)
{
	v->claim.shown_end = fmax(v->claim.shown_end, ((double)v->origin +
	    (double)v->until) * av_q2d(v->stream->time_base));
}

/*
 * Return 1 if times restart at ${t}, the time of frame ${f}, as in concatenated
 * files.  They do if ${t} goes back further than any decoder reorders frames,
 * or if a key frame goes back to the beginning.  Smaller steps back are frames
 * out of order.
 */
static int
video_restarts(const struct video *v, const AVFrame *f, int64_t t)
{
	int64_t frame = v->until - v->time;

	return t < v->stated && (t <= v->first ?
	    f->pict_type == AV_PICTURE_TYPE_I :
	    frame > 0 && (v->stated - t) / frame > REORDER);
}

/*
 * Set ${*t} to the time stamp of frame ${f}, in ticks from the first frame.
 * Return 1, 0 if it is out of range, or -1 if ${f} has none.
 */
static int
video_stamp(const struct video *v, const AVFrame *f, int64_t *t)
{
	if (!claim_is_time(f->best_effort_timestamp, v->stream))
		return -1;
	return !__builtin_sub_overflow(f->best_effort_timestamp, v->origin,
	    t) && f->best_effort_timestamp >= -FF_FAR && *t >= -FF_FAR &&
	    *t <= FF_FAR;
}

/*
 * Return 1 if ${t}, the time stamp of a frame, is wild: it does not lie between
 * the times of the frame before and of the one after, ${next}, and is farther
 * from the expected time than ${next} is.  ${known}: ${next} is a time.  A last
 * frame is wild if it is far beyond both its predecessor and the declared
 * duration.
 */
static int
video_is_wild(const struct video *v, int64_t t, int known, int64_t next)
{
	double tick = av_q2d(v->stream->time_base);

	if (known)
		return next > v->time && (t <= v->time || t >= next) &&
		    llabs(t - v->until) > llabs(next - (2 * v->until -
		    v->time));
	return !v->have_later && v->nshown > 1 && v->claim.seconds > 0 &&
	    (double)t * tick > v->claim.seconds + 1 &&
	    (t - v->time) / REORDER > v->time / (int64_t)(v->nshown - 1);
}

void
video_set_time(struct video *v, const AVFrame *f)
{
	int64_t t = 0, next = 0, length = ff_duration(f), last = v->time;
	int stamped = video_stamp(v, f, &t);
	int known = v->have_later && video_stamp(v, v->later, &next) == 1;

	if (stamped == 0)
		t = last;
	v->account.times_mended += stamped == 0 ||
	    (stamped < 0 && v->until > 0);
	if (v->until == 0) {			/* the first frame */
		v->time = t = 0;
		if (known && next < 0) {	/* wild */
			v->account.times_mended++;
			v->claim.ours_end = -1e30;
			v->origin += next - (length > 0 ? length : 1);
			v->claim.shown_start = (double)v->origin *
			    av_q2d(v->stream->time_base);
		}
	} else if (stamped == 1 && video_is_wild(v, t, known, next)) {
		v->account.times_mended++;
		*(t > last ? &v->claim.ours_end : &v->claim.ours_start) =
		    t > last ? -1e30 : 1e30;
		v->time = !known || v->until < next ? v->until :
		    last + (next - last) / 2;
		v->time += v->time == last;
		t = v->time;
	} else if (stamped == 1 && t > last) {
		v->time = t;
	} else if (stamped == 1 && video_restarts(v, f, t)) {
		v->account.times_mended++;
		video_mark_end(v);
		v->origin = f->best_effort_timestamp - v->until;
		v->time = v->first = t = v->until;
	} else {
		v->account.times_mended += stamped == 1;
		v->time = stamped < 0 ? v->until : last + 1;
	}
	if (stamped >= 0)
		v->stated = t;
	/* The expected end; the next frame's time replaces it. */
	if (length <= 0 || length > FF_FAR)
		length = v->time - last;
	if (length <= 0 && v->info.rate[0].num > 0)
		length = llrint(av_q2d(av_inv_q((AVRational){
		    v->info.rate[0].num, v->info.rate[0].den })) /
		    av_q2d(v->stream->time_base));
	v->until = v->time + (length > 0 ? length : 1);
	video_mark_shown(v, v->time, v->until);
}

void
video_keep_stamp(struct video *v, AVFrame *f)
{
	int64_t pts = f->pts, frame = ff_duration(f), last = v->last_pts[0],
	    before = v->last_pts[1];

	if (pts == AV_NOPTS_VALUE || pts < -FF_FAR || pts > FF_FAR)
		return;
	if (frame <= 0 || frame > FF_FAR)
		frame = v->until > v->time ? v->until - v->time : 1;
	v->disordered |= v->started && pts <= last &&
	    (last - pts) / frame <= REORDER &&
	    (pts <= before || last - before <= 2 * (pts - before));
	v->last_pts[1] = last;
	v->last_pts[0] = pts;
	if (!v->disordered)
		f->best_effort_timestamp = pts;
}
