/*
 * Decide whether a file is complete.  FFmpeg decodes half a file and reports
 * success, so compare the frames found with the duration and frame count that
 * the headers declare.  Observations of complete files of every kind show which
 * declarations to trust:
 *
 * - mov and mp4 list every packet in their index, so a missing packet is
 *   certain.  Durations are shortened by edit lists and say less.  In a
 *   fragmented file the index grows as fragments are read; there a declared
 *   duration reveals missing fragments.  FFmpeg leaves samples out of its
 *   index: those of fragments whose times overlap, and of other codecs in one
 *   track.  media/container counts them.
 * - avi declares a number of frames; FFmpeg derives its duration from the file
 *   size.  Frames may be empty, so time is compared.
 * - matroska, flv, asf and mxf declare a duration, which is that of the longest
 *   stream.  Our stream must reach it, unless the container's structure is
 *   complete or the file declares a shorter duration for our stream, as
 *   matroska tags do.  It may differ by the length of the last frame, which
 *   many containers do not store.  With sound it may differ by a second,
 *   because codecs pad.
 * - avi with a count of at least 0x40000000, and ivf with one of 0xffffffff,
 *   were written to a pipe.  Their writer could not fill in the count.
 * - ivf declares the number of its packets, also of those that are not
 *   displayed, or its duration, by the writer.  For one frame this is the
 *   length of the frame, which is not stored.
 * - media/container checks the structure of a container.
 * - Transport, program and raw streams declare nothing: FFmpeg derives their
 *   durations from the last packet.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "media/ffmpeg/ff.h"

#define UNKNOWN 0x40000000	/* a frame count of at least this was never
				 * filled in */
#define FRAMES 2		/* frames by which a file may fall short of its
				 * declaration */
#define SHARE 0.01		/* or this fraction of it, */
#define SECONDS 1.0		/* but at most this; always this much with
				 * sound */
#define AGE 1e12		/* seconds; valid time stamps are smaller */
#define LATE 0x40000000		/* ms: half the range of an FLV time stamp */

static int
claim_is_format(const AVFormatContext *f, const char *name)
{
	size_t n = strcspn(f->iformat->name, ",");

	return strlen(name) == n && memcmp(name, f->iformat->name, n) == 0;
}

int64_t
claim_index(const AVFormatContext *f, const AVStream *st)
{
	if (!claim_is_format(f, "mov"))
		return -1;
	/* The index is not changed; the function lacks a const. */
	return ff.avformat_index_get_entries_count((AVStream *)st);
}

int
claim_has_times(const AVFormatContext *f, const AVStream *st)
{
	return container_find(f->iformat->name)->timed ||
	    (claim_is_format(f, "mov") && st->nb_frames == 0);
}

/*
 * Return the duration of Matroska's tag for one stream, "00:00:02.003000000",
 * or 0 if absent.
 */
static double
claim_own_duration(const AVStream *st)
{
	const AVDictionaryEntry *tag = ff.av_dict_get(st->metadata, "DURATION",
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
	double tick = av_q2d(st->time_base), own = claim_own_duration(st);

	*c = (struct ff_claim){ .ours_start = 1e30, .ours_end = -1e30,
	    .shown_end = -1e30, .key_start = -1e30, .next_key = 1e30,
	    .first_dts = AV_NOPTS_VALUE };
	if (st->start_time != AV_NOPTS_VALUE)
		c->start = (double)st->start_time * tick;
	if (claim_is_format(f, "avi")) {
		c->seconds = st->nb_frames < UNKNOWN ?
		    (double)st->nb_frames * tick : 0;
		c->own = 1;
	} else if (claim_is_format(f, "ivf") && st->duration == UINT32_MAX) {
		c->seconds = 0;
	} else if (f->duration_estimation_method !=
	    AVFMT_DURATION_FROM_STREAM) {
		c->seconds = 0;
	} else if (own > 0) {
		c->seconds = own;
		c->own = 1;
	} else if (st->duration != AV_NOPTS_VALUE) {
		c->seconds = (double)st->duration * tick;
	} else if (f->duration != AV_NOPTS_VALUE &&
	    !claim_is_format(f, "mov")) {
		c->seconds = (double)f->duration / AV_TIME_BASE;
	}
	if (!(c->seconds > 0))
		c->seconds = 0;
}

int
claim_is_time(int64_t t, const AVStream *st)
{
	return t != AV_NOPTS_VALUE &&
	    fabs((double)t * av_q2d(st->time_base)) < AGE;
}

/* Return the time nearest to ${first} that has the low 31 bits of ${t}. */
static int64_t
claim_unwrap(int64_t t, int64_t first)
{
	uint64_t d = ((uint64_t)t - (uint64_t)first) & 0x7fffffff;

	if (t == AV_NOPTS_VALUE)
		return t;
	return first + (int64_t)d - (d >= LATE ? INT64_C(0x80000000) : 0);
}

/*
 * A stream-copied cut may begin before time 0.  FLV stores the low 31 bits of
 * such a time as a large one.  FFmpeg then adds 2^32 to the later times, which
 * begin at 0.
 */
void
claim_mend(struct ff_claim *c, const AVFormatContext *f, AVPacket *p)
{
	if (c->first_dts == AV_NOPTS_VALUE)
		c->first_dts = p->dts;
	if (!claim_is_format(f, "flv") || c->first_dts < LATE)
		return;
	p->pts = claim_unwrap(p->pts, c->first_dts);
	p->dts = claim_unwrap(p->dts, c->first_dts);
}

/* Record the times of the first two key frames of our stream. */
static void
claim_key(struct ff_claim *c, const AVStream *st, const AVPacket *p)
{
	double tick = av_q2d(st->time_base);
	int64_t t = p->dts != AV_NOPTS_VALUE ? p->dts : p->pts;

	if (!(p->flags & AV_PKT_FLAG_KEY) || p->size <= FF_NOT_CODED)
		return;
	if (c->packets == 1) {
		c->begins_with_key = 1;
		if (claim_is_time(p->pts, st))
			c->key_start = (double)p->pts * tick;
	} else if (c->next_key > AGE && claim_is_time(t, st)) {
		c->next_key = (double)t * tick;
	}
}

/*
 * Return 1 if ${p} is H.264 without an instantaneous refresh (NAL unit type 5),
 * so that its references and commands may concern pictures before the file.
 * Sizes precede the units, of the number of bytes that avcC states, or start
 * codes.
 */
static int
claim_is_recovery(const AVStream *st, const AVPacket *p)
{
	const AVCodecParameters *c = st->codecpar;
	int sized = c->extradata_size > 4 && c->extradata[0] == 1;
	int bytes = sized ? (c->extradata[4] & 3) + 1 : 3;

	if (c->codec_id != AV_CODEC_ID_H264)
		return 0;
	for (int64_t i = 0, n; i + bytes < p->size; i += sized ? bytes + n :
	    1) {
		const uint8_t *b = p->data + i;

		n = 0;
		for (int k = 0; k < bytes; k++)
			n = n << 8 | b[k];
		if ((sized || n == 1) && (b[bytes] & 31) == 5)
			return 0;
	}
	return 1;
}

void
claim_packet(struct ff_claim *c, const AVStream *st, const AVPacket *p)
{
	double tick = av_q2d(st->time_base);

	c->packets++;
	c->discarded += (p->flags & AV_PKT_FLAG_DISCARD) != 0;
	claim_key(c, st, p);
	c->recovering = c->next_key > AGE && (c->recovering ||
	    (c->packets == 1 && claim_is_recovery(st, p)));
	/* FFmpeg writes leading pictures of a cut into mkv without times. */
	c->leading = c->next_key > AGE && (claim_is_time(p->pts, st) ?
	    (double)p->pts * tick < c->key_start : c->recovering);
	c->open = c->next_key > AGE && (c->open || c->leading);
	if (!claim_is_time(p->pts, st) || p->flags & AV_PKT_FLAG_DISCARD)
		return;
	c->ours_start = fmin(c->ours_start, (double)p->pts * tick);
	c->ours_end = fmax(c->ours_end, ((double)p->pts +
	    (double)p->duration) * tick);
}

/* Return the tolerance at either end of ${frames} frames of ${seconds}. */
static double
claim_some_frames(int64_t frames, double seconds)
{
	return frames > 0 ? FRAMES * seconds / (double)frames : 0;
}

/* Return 1 if an IVF file has as many packets as it declares, or one packet of
 * at most a second. */
static int
claim_is_count(const struct ff_claim *c, const AVFormatContext *f,
    const AVStream *st)
{
	return claim_is_format(f, "ivf") && (c->packets >= st->duration ||
	    (c->packets == 1 && c->seconds <= SECONDS));
}

int
claim_short(const struct ff_claim *c, const AVFormatContext *f,
    const AVStream *st, int64_t frames, double seconds)
{
	int64_t listed = claim_index(f, st);
	double end = fmax(c->ours_end, c->shown_end), allowed;

	if (c->cut || c->ended_badly || c->packets < listed ||
	    c->packets - c->discarded < c->shown)
		return 1;
	if (c->seconds == 0 || c->complete || claim_is_count(c, f, st) ||
	    (listed > 0 && st->nb_frames > 0))
		return 0;
	/* Some writers count from time 0, some from the first frame. */
	if (c->start < 0)
		end -= c->start;
	/* Streams of one file end together to within this. */
	allowed = claim_some_frames(frames, seconds);
	if (!c->own && f->nb_streams > 1 && !claim_is_format(f, "mov"))
		allowed = fmax(allowed, SECONDS);
	else if (!c->own)
		allowed = fmax(allowed, fmin(SHARE * c->seconds, SECONDS));
	return c->seconds - end > allowed;
}

double
claim_hidden(const struct ff_claim *c, int64_t frames, double seconds)
{
	double hidden = c->ours_end - c->shown_end;

	/* If the file is a cut within one open group of pictures, FFmpeg's
	 * H.264 decoder returns only the key frame. */
	if (c->open)
		return 0;
	return hidden > claim_some_frames(frames, seconds) ? hidden : 0;
}

double
claim_hidden_first(const struct ff_claim *c, int64_t frames, double seconds)
{
	double hidden = c->shown_start - c->ours_start;

	/* The decoder started before the second key frame.  Then only leading
	 * pictures precede the first displayed frame. */
	if (c->begins_with_key && (c->shown_start == c->key_start ||
	    c->shown_start < c->next_key))
		return 0;
	return hidden > claim_some_frames(frames, seconds) ? hidden : 0;
}
