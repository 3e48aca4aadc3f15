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
 * - matroska, flv, asf and mxf state a duration, which is that of the longest
 *   stream.  Ours must reach it, or else the file must say that ours is
 *   shorter, as the tags of matroska do.  It may be off by the length of the
 *   last frame, which many containers do not store.
 * - What a container shows by its structure is media/container's affair.
 * - Transport and program streams and raw streams claim nothing: durations
 *   there are read off the last packet.
 */
#include <math.h>
#include <stdio.h>
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

/*
 * Not where an index lists all packets: frames may be as far apart as it says.
 * Raw streams have no times, gif has the duration of each frame, avi counts
 * frames, and the pages of ogg are numbered: what is dropped there was never
 * encoded.
 */
int
claim_has_times(const AVFormatContext *f, const AVStream *st)
{
	static const char *const timed[] = { "matroska", "flv", "asf", "mpegts",
		"mpeg", "mxf", "ivf" };

	for (size_t i = 0; i < sizeof(timed) / sizeof(timed[0]); i++)
		if (is_format(f, timed[i]))
			return 1;
	return is_format(f, "mov") && st->nb_frames == 0;
}

/* Matroska's tag for a single stream, "00:00:02.003000000"; 0: it has none. */
static double
own_duration(const AVStream *st)
{
	const AVDictionaryEntry *tag = av_dict_get(st->metadata, "DURATION",
	    NULL, 0);
	int hours, minutes, n = 0;
	double seconds;

	if (tag == NULL || sscanf(tag->value, "%d:%d:%lf%n", &hours, &minutes,
	    &seconds, &n) != 3 || tag->value[n] != '\0')
		return 0;
	return hours * 3600.0 + minutes * 60.0 + seconds;
}

void
claim_read(struct ff_claim *c, const AVFormatContext *f, const AVStream *st)
{
	double tick = av_q2d(st->time_base), own = own_duration(st);

	*c = (struct ff_claim){ .ours_start = 1e30, .ours_end = -1e30,
	    .shown_end = -1e30 };
	if (st->start_time != AV_NOPTS_VALUE)
		c->start = (double)st->start_time * tick;
	if (is_format(f, "avi")) {
		c->seconds = (double)st->nb_frames * tick;
		c->own = 1;
	} else if (f->duration_estimation_method != AVFMT_DURATION_FROM_STREAM) {
		c->seconds = 0;
	} else if (own > 0) {
		c->seconds = own;
		c->own = 1;
	} else if (st->duration != AV_NOPTS_VALUE) {
		c->seconds = (double)st->duration * tick;
	} else if (f->duration != AV_NOPTS_VALUE && !is_format(f, "mov")) {
		c->seconds = (double)f->duration / AV_TIME_BASE;
	}
	if (!(c->seconds > 0))
		c->seconds = 0;
}

void
claim_packet(struct ff_claim *c, const AVStream *st, const AVPacket *p,
    int ours)
{
	double tick = av_q2d(st->time_base);

	c->packets += ours;
	if (!ours || p->pts == AV_NOPTS_VALUE ||
	    p->flags & AV_PKT_FLAG_DISCARD)
		return;
	c->ours_start = fmin(c->ours_start, (double)p->pts * tick);
	c->ours_end = fmax(c->ours_end, ((double)p->pts +
	    (double)p->duration) * tick);
}

/* What may be missing at either end of ${frames} frames of ${seconds}. */
static double
some_frames(int64_t frames, double seconds)
{
	return frames > 0 ? FRAMES * seconds / (double)frames : 0;
}

int
claim_short(const struct ff_claim *c, const AVFormatContext *f,
    const AVStream *st, int64_t frames, double seconds)
{
	int64_t listed = claim_index(f, st);
	double end = fmax(c->ours_end, c->shown_end), allowed;

	if (c->cut || c->ended_badly || c->packets < listed)
		return 1;
	if (c->seconds == 0 || c->complete || (listed > 0 && st->nb_frames > 0))
		return 0;
	/* Some count from the start of the clock, some from the first frame. */
	if (c->start < 0)
		end -= c->start;
	/* Streams that end together do so to within this. */
	allowed = some_frames(frames, seconds);
	if (!c->own)
		allowed = fmax(allowed, fmin(SHARE * c->seconds, SECONDS));
	return c->seconds - end > allowed;
}

double
claim_hidden(const struct ff_claim *c, int64_t frames, double seconds)
{
	double hidden = c->ours_end - c->shown_end;

	return hidden > some_frames(frames, seconds) ? hidden : 0;
}

double
claim_hidden_first(const struct ff_claim *c, int64_t frames, double seconds)
{
	double hidden = c->shown_start - c->ours_start;

	return hidden > some_frames(frames, seconds) ? hidden : 0;
}
