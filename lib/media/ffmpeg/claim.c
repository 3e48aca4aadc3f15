/*
 * Is a file whole?  FFmpeg decodes half a file and reports success, so what
 * was found is compared with what the headers claim.  Which claims hold was
 * learnt from whole files of every kind:
 *
 * - mov and mp4 list every packet in their index, so a packet that is missing
 *   is certain.  Durations there are trimmed by edit lists and say less.  In a
 *   fragmented file the index grows as fragments are met: there a duration,
 *   if it is stated, tells of fragments that are gone.
 * - avi counts frames in its header; the duration that FFmpeg gives is made
 *   from the size of the file.  Frames may be empty, so time is compared.
 * - matroska, flv and mxf state a duration, which is that of the longest
 *   stream: any stream that reaches it will do.  It may be off by the length of
 *   the last frame, which many containers do not store.
 * - asf, ogg and gif show by their structure where they end: see cut.c.
 * - Transport and program streams and raw streams claim nothing: durations
 *   there are read off the last packet.
 */
#include <math.h>
#include <string.h>

#include "media/ffmpeg/ff.h"

#define FRAMES 2		/* that a file may fall short of its claim */
#define SHARE 0.01		/* or this part of it, */
#define SECONDS 1.0		/* but no more than this */

static int
is_format(const AVFormatContext *f, const char *name)
{
	size_t n = strcspn(f->iformat->name, ",");

	return strlen(name) == n && memcmp(name, f->iformat->name, n) == 0;
}

int64_t
claim_index(const AVFormatContext *f, const AVStream *st)
{
	if (!is_format(f, "mov"))
		return -1;
	/* The index is not changed; the function lacks a const. */
	return avformat_index_get_entries_count((AVStream *)st);
}

void
claim_read(struct ff_claim *c, const AVFormatContext *f, const AVStream *st)
{
	double tick = av_q2d(st->time_base);

	*c = (struct ff_claim){ .any_end = -1e30, .ours_end = -1e30,
	    .shown_end = -1e30 };
	if (st->start_time != AV_NOPTS_VALUE)
		c->start = (double)st->start_time * tick;
	if (is_format(f, "avi"))
		c->seconds = (double)st->nb_frames * tick;
	else if (f->duration_estimation_method != AVFMT_DURATION_FROM_STREAM)
		c->seconds = 0;
	else if (st->duration != AV_NOPTS_VALUE)
		c->seconds = (double)st->duration * tick;
	else if (f->duration != AV_NOPTS_VALUE && !is_format(f, "mov"))
		c->seconds = (double)f->duration / AV_TIME_BASE;
	if (!(c->seconds > 0))
		c->seconds = 0;
}

void
claim_packet(struct ff_claim *c, const AVStream *st, const AVPacket *p,
    int ours)
{
	double end;

	c->packets += ours;
	if (p->pts == AV_NOPTS_VALUE)
		return;
	end = ((double)p->pts + (double)p->duration) * av_q2d(st->time_base);
	c->any_end = fmax(c->any_end, end);
	if (ours && !(p->flags & AV_PKT_FLAG_DISCARD))
		c->ours_end = fmax(c->ours_end, end);
}

/* What may be missing at the end of ${frames} frames of ${seconds}. */
static double
tolerance(double claimed, int64_t frames, double seconds)
{
	double mean = frames > 0 ? seconds / (double)frames : 0;

	return fmax(FRAMES * mean, fmin(SHARE * claimed, SECONDS));
}

int
claim_short(const struct ff_claim *c, const AVFormatContext *f,
    const AVStream *st, int64_t frames, double seconds)
{
	int64_t listed = claim_index(f, st);
	double end = fmax(c->any_end, c->shown_end);

	if (c->cut || c->ended_badly || c->packets < listed)
		return 1;
	if (c->seconds == 0 || (listed > 0 && st->nb_frames > 0))
		return 0;
	/* Some count from the start of the clock, some from the first frame. */
	if (c->start < 0)
		end -= c->start;
	return c->seconds - end > tolerance(c->seconds, frames, seconds);
}

double
claim_hidden(const struct ff_claim *c, int64_t frames, double seconds)
{
	double hidden = c->ours_end - c->shown_end;

	return hidden > tolerance(seconds, frames, seconds) ? hidden : 0;
}
