/* Damage of a video: what counts, and the account after the last frame. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "media/ffmpeg/ff.h"

void
video_mark_damaged(struct video *v, const char *what)
{
	if (v->account.message[0] == '\0')
		snprintf(v->account.message, sizeof(v->account.message), "%s",
		    v->log.first[0] != '\0' ? v->log.first : what);
	v->account.damage += !v->damage_counted;
	v->damage_counted = 1;
}

int
video_has_new_errors(struct video *v)
{
	int64_t before = v->heard;

	v->heard = v->log.errors;
	v->account.errors = v->log.errors;
	return v->heard > before;
}

/* Count damage that belongs to no packet and no frame. */
static void __attribute__((format(printf, 2, 3)))
video_add_damage(struct video *v, const char *fmt, ...)
{
	char text[sizeof(v->account.message)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	v->damage_counted = 0;
	v->log.first[0] = '\0';
	video_mark_damaged(v, text);
}

/* Count gaps in the times.  They are not damage: no container requires a
 * constant frame rate, and encoders drop frames. */
static void
video_find_gaps(struct video *v)
{
	struct video_account *a = &v->account;
	double tick = av_q2d(v->stream->time_base);
	size_t first = 0;

	if (!claim_has_times(v->format, v->stream))
		return;
	a->gaps = (int64_t)fps_gaps(v->shown, v->nshown, v->info.tick, &first);
	if (a->gaps == 0)
		return;
	a->gap_time = (double)v->shown[first].time * tick;
	a->gap_length = (double)(v->shown[first + 1].time -
	    v->shown[first].time) * tick;
}

/*
 * Count as damage the packets that only FFmpeg's corrupt flag marks.  Exempt
 * one for each of ${appended} appended files in a transport stream: their
 * packet numbers restart, so FFmpeg flags a packet at each join.
 */
static void
video_count_flagged(struct video *v, int64_t appended)
{
	if (appended > v->flagged_only)
		appended = v->flagged_only;
	v->account.packets_corrupt -= appended;
	for (int64_t i = appended; i < v->flagged_only; i++)
		video_add_damage(v, "incomplete packet");
}

/*
 * Count damage if the container announces a frame after the last one, by its
 * time stamp ${newest}.  There is no packet where the data of a frame are lost.
 * The second field of a frame may have its own time stamp, so require 3/4 of
 * the mean frame interval.
 */
static void
video_find_unshown(struct video *v, int64_t newest)
{
	int64_t last = 0, d;

	for (size_t i = 0; i < v->nshown; i++)
		last = v->shown[i].time > last ? v->shown[i].time : last;
	d = (int64_t)(((uint64_t)newest - (uint64_t)v->origin -
	    (uint64_t)last) & 0x1ffffffff);
	if (newest >= 0 && v->nshown > 1 && d < 0x100000000 &&
	    d > last / (int64_t)(v->nshown - 1) * 3 / 4)
		video_add_damage(v, "no frame for the last %.3f s",
		    (double)d / 90e3);
}

void
video_conclude(struct video *v)
{
	struct video_account *a = &v->account;
	double hidden;

	if (v->report.state == CONTAINER_CUT) {
		v->claim.cut = 1;
		snprintf(a->cut, sizeof(a->cut), "%s", v->report.text);
	} else if (v->report.state == CONTAINER_BROKEN) {
		video_add_damage(v, "%s", v->report.text);
	}
	video_count_flagged(v, v->report.appended);
	video_find_gaps(v);
	video_find_unshown(v, v->report.newest);
	v->claim.complete = v->report.complete;
	video_mark_end(v);
	a->packets = v->claim.packets;
	a->listed = claim_index(v->format, v->stream);
	a->samples = v->report.samples;
	v->claim.shown = v->report.shown;
	if (a->packets - v->claim.discarded < v->report.shown) {
		a->packets -= v->claim.discarded;
		a->listed = v->report.shown;
	}
	a->truncated = claim_short(&v->claim, v->format, v->stream, a->frames,
	    a->decoded);
	hidden = claim_hidden(&v->claim, a->frames, a->decoded);
	if (hidden > 0 && !a->truncated)
		video_add_damage(v, "no frame for the last %.2f s", hidden);
	hidden = claim_hidden_first(&v->claim, a->frames, a->decoded);
	if (hidden > 0)
		video_add_damage(v, "no frame for the first %.2f s", hidden);
}
