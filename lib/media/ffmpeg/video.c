/* Decode packets to frames, assign their times, and count the damage. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "media/container.h"
#include "media/ffmpeg/ff.h"

#define Q text_quote
#define RETRIES 100		/* calls in which a demuxer or decoder may make
				 * no progress */
#define FAR (INT64_MAX / 4)	/* ticks; the sum of two does not overflow */
#define REORDER 16		/* maximum frames by which a decoder reorders */

/* ---- damage ---- */

/* Count damage once per packet, even if several checks detect it. */
static void
video_mark_damaged(struct video *v, const char *what)
{
	if (v->account.message[0] == '\0')
		snprintf(v->account.message, sizeof(v->account.message), "%s",
		    v->log.first[0] != '\0' ? v->log.first : what);
	v->account.damage += !v->damage_counted;
	v->damage_counted = 1;
}

/* Return 1 if FFmpeg has reported errors since the last call. */
static int
video_has_new_errors(struct video *v)
{
	int64_t before = v->heard;

	v->heard = v->log.errors;
	v->account.errors = v->log.errors;
	return v->heard > before;
}

/* ---- packets ---- */

/*
 * Record that a frame is displayed from ${time} to ${until}, in ticks from the
 * first frame's time.
 */
static void
video_mark_shown(struct video *v, int64_t time, int64_t until)
{
	v->shown = array_reserve(v->shown, v->nshown, &v->cap, sizeof(*v->shown));
	v->shown[v->nshown++] = (struct video_frame){ time, until };
}

/* Record the time of an empty packet ${p}, which repeats the previous frame. */
static void
video_mark_packet(struct video *v, const AVPacket *p)
{
	int64_t t = 0;

	if (v->started && claim_is_time(p->pts, v->stream) &&
	    !__builtin_sub_overflow(p->pts, v->origin, &t) && t > 0 &&
	    t < FAR)
		video_mark_shown(v, t, t);
}

/*
 * Return 1 if ${p} is Theora's comment header.  Chained Ogg files contain
 * headers in the middle, and the decoder refuses the comment header.
 */
static int
video_is_comment(const struct video *v, const AVPacket *p)
{
	return v->stream->codecpar->codec_id == AV_CODEC_ID_THEORA &&
	    p->size > 0 && p->data[0] == 0x81;
}

/*
 * Check a packet of DV.  The demuxer of raw DV completes a partial last frame
 * with bytes of the one before it; flag that packet.  In other containers,
 * count the frames whose DIF blocks are in their place, and the others.
 */
static void
video_dv_packet(struct video *v, AVPacket *p)
{
	if (v->stream->codecpar->codec_id != AV_CODEC_ID_DVVIDEO)
		return;
	if (strcmp(v->info.format, "dv") != 0) {
		int whole = container_is_dv(p->data, (size_t)p->size);

		v->dv_whole += whole;
		v->dv_broken += !whole;
	} else if (p->pos >= 0 && p->pos + p->size > v->source.size) {
		p->flags |= AV_PKT_FLAG_CORRUPT;
	}
}

/*
 * Read the next packet of our stream into ${p}.  Return 1, 0 at the end, or -1
 * after a message.  If the demuxer reports an error in the call that finds the
 * end, the error belongs to the end; otherwise it is damage.  An empty packet
 * repeats the previous frame; a decoder would take it for the end.
 */
static int
video_read_packet(struct video *v, AVPacket *p)
{
	for (int tries = 0;; tries++) {
		const AVStream *st;
		int r, ours;

		errno = 0;
		r = av_read_frame(v->format, p);
		if (v->source.error != 0) {
			errno = v->source.error;
			return fail_errno("%s: cannot read", Q(v->path));
		}
		if (ff_out_of_memory(r))
			return fail("%s: out of memory", Q(v->path));
		if (r == AVERROR(EAGAIN) && tries < RETRIES)
			continue;
		if (r < 0) {
			if (video_has_new_errors(v) || r != AVERROR_EOF)
				v->claim.ended_badly = 1;
			return 0;
		}
		st = v->format->streams[p->stream_index];
		ours = st == v->stream;
		if (ours) {
			claim_mend(&v->claim, v->format, p);
			claim_packet(&v->claim, st, p);
			video_dv_packet(v, p);
		}
		/* video_next_packet reports an incomplete packet in more detail. */
		if (video_has_new_errors(v) &&
		    !(p->flags & AV_PKT_FLAG_CORRUPT))
			video_mark_damaged(v, "error in the container");
		if (ours && p->size <= FF_NOT_CODED &&
		    (p->size == 0 || st->codecpar->codec_id ==
		    AV_CODEC_ID_MPEG4))
			video_mark_packet(v, p);
		if (ours && p->size > 0 && !video_is_comment(v, p))
			return poc_packet(&v->poc, p) == 0 ? 1 :
			    fail("%s: out of memory", Q(v->path));
		av_packet_unref(p);
	}
}

/*
 * Read the next packet to decode; results as video_read_packet.  Decode an
 * incomplete packet only if more packets follow: the last one is where the file
 * was cut.  If only FFmpeg's flag marks a packet, video_count_flagged decides
 * whether it is damaged.
 */
static int
video_next_packet(struct video *v)
{
	int r;

	v->flagged_only += v->flagged && !v->damage_counted;
	v->flagged = v->damage_counted = 0;
	av_packet_unref(v->packet);
	if (v->next->size > 0)
		av_packet_move_ref(v->packet, v->next);
	else if ((r = video_read_packet(v, v->packet)) != 1)
		return r;
	if (av_packet_get_side_data(v->packet, AV_PKT_DATA_ENCRYPTION_INFO,
	    NULL) != NULL)
		return fail("%s: the video is encrypted", Q(v->path));
	if (!(v->packet->flags & AV_PKT_FLAG_CORRUPT))
		return 1;
	if ((r = video_read_packet(v, v->next)) < 0)
		return -1;
	if (r == 0) {
		v->claim.cut = 1;
		v->claim.packets--;
		return 0;
	}
	v->account.packets_corrupt++;
	v->flagged = 1;
	return 1;
}

/* ---- frames ---- */

/* Discard messages of the second decoder: they concern bytes that are not in
 * the file. */
static int
video_shadow_feed(struct video *v)
{
	int r;

	ff_listen(NULL);
	r = shadow_packet(&v->shadow, v->draining ? NULL : v->packet);
	ff_listen(&v->log);
	return r;
}

static int
video_is_cut_off(struct video *v, const AVFrame *f)
{
	int r;

	ff_listen(NULL);
	r = shadow_differs(&v->shadow, f);
	ff_listen(&v->log);
	return r;
}

/* Send the decoder the next packet, or the end of the stream. */
static int
video_feed(struct video *v)
{
	int r = video_next_packet(v);

	if (r < 0)
		return -1;
	v->draining = r == 0;
	/*
	 * The references of leading pictures may precede the file.  Frames up
	 * to the next key frame may then report references that were never in
	 * the file.
	 */
	v->leading = !v->draining && v->claim.leading;
	v->log.open_group = v->claim.open || v->claim.recovering;
	errno = 0;
	r = avcodec_send_packet(v->decoder, v->draining ? NULL : v->packet);
	if (ff_out_of_memory(r) || video_shadow_feed(v) != 0)
		return fail("%s: out of memory", Q(v->path));
	if (r < 0 && r != AVERROR_EOF && !v->leading) {
		v->account.refused++;
		video_mark_damaged(v, ff_text(r));
	}
	if (video_has_new_errors(v) && !v->leading)
		video_mark_damaged(v, "error in the decoder");
	return 0;
}

/* Decode a frame into ${f}.  Return 1, 0 at the end, or -1 after a message. */
static int
video_decode(struct video *v, AVFrame *f)
{
	for (int errors = 0; errors < RETRIES;) {
		int r, bad;

		errno = 0;
		r = avcodec_receive_frame(v->decoder, f);
		bad = r == 0 && (f->decode_error_flags != 0 ||
		    (f->flags & AV_FRAME_FLAG_CORRUPT));

		if (ff_out_of_memory(r))
			return fail("%s: out of memory", Q(v->path));
		if (video_has_new_errors(v) && !v->leading)
			video_mark_damaged(v, "error in the decoder");
		if (bad && !v->leading) {
			v->account.frames_corrupt++;
			video_mark_damaged(v, "damaged frame");
		}
		if (r == 0 && video_is_cut_off(v, f))
			video_mark_damaged(v,
			    "the data of a frame end too early");
		if (r == 0)
			return 1;
		if (r == AVERROR_EOF)
			return 0;
		if (r != AVERROR(EAGAIN) && !v->leading) {
			v->account.refused++;
			video_mark_damaged(v, ff_text(r));
		}
		if (v->draining) {
			v->damage_counted = 0;
			errors++;
		} else if (video_feed(v) != 0) {
			return -1;
		}
	}
	return 0;
}

/* Record the file's time at the end of the newest frame. */
static void
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
	    t) && f->best_effort_timestamp >= -FAR && *t >= -FAR && *t <= FAR;
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

/*
 * Set the time of frame ${f}, in ticks from the first frame:
 * - Without a time stamp, it is the end of the previous frame.
 * - If the time stamp is wild, it is that end, too, but before the next frame.
 * - If time stamps restart at this frame, it is that end; later times are
 *   shifted by the same difference.
 * - If the time stamp is out of range, or not after the previous frame, it is
 *   one tick after the previous frame.
 * - Otherwise it is the time stamp.
 */
static void
video_set_time(struct video *v, const AVFrame *f)
{
	int64_t t = 0, next = 0, length = ff_duration(f), last = v->time;
	int stamped = video_stamp(v, f, &t);
	int known = v->have_later && video_stamp(v, v->later, &next) == 1;

	if (stamped == 0)
		t = last;
	v->account.times_mended += stamped == 0 || (stamped < 0 && v->until > 0);
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
	if (length <= 0 || length > FAR)
		length = v->time - last;
	if (length <= 0 && v->info.rate[0].num > 0)
		length = llrint(av_q2d(av_inv_q((AVRational){
		    v->info.rate[0].num, v->info.rate[0].den })) /
		    av_q2d(v->stream->time_base));
	v->until = v->time + (length > 0 ? length : 1);
	video_mark_shown(v, v->time, v->until);
}

/*
 * FFmpeg's best time stamp is the decoding time once a frame's own time steps
 * back.  Keep the frame's own time after a step that is not one of reordering:
 * from a wild time stamp, to one, or to a restart.
 */
static void
video_keep_stamp(struct video *v, AVFrame *f)
{
	int64_t pts = f->pts, frame = ff_duration(f), last = v->last_pts[0],
	    before = v->last_pts[1];

	if (pts == AV_NOPTS_VALUE || pts < -FAR || pts > FAR)
		return;
	if (frame <= 0 || frame > FAR)
		frame = v->until > v->time ? v->until - v->time : 1;
	v->disordered |= v->started && pts <= last &&
	    (last - pts) / frame <= REORDER &&
	    (pts <= before || last - before <= 2 * (pts - before));
	v->last_pts[1] = last;
	v->last_pts[0] = pts;
	if (!v->disordered)
		f->best_effort_timestamp = pts;
}

/* Decode into ${v->later}.  Return 1, 0 at the end, or -1 after a message. */
static int
video_decode_later(struct video *v)
{
	int r = video_decode(v, v->later);

	v->have_later = r == 1;
	if (r == 1)
		video_keep_stamp(v, v->later);
	return r == 1 && video_too_big(v, v->later->width, v->later->height) ?
	    -1 : r;
}

/*
 * Check the container after the last frame was decoded.  Empty chunks at the
 * end of an AVI, which the demuxer omits, display that frame for longer.
 */
static void
video_check_container(struct video *v)
{
	/* Read what the demuxer has skipped; if that fails, container_check reads
	 * the file itself. */
	source_hash_to(&v->source, v->source.size);
	container_check(v->source.fd, v->source.size, source_bytes(&v->source),
	    v->info.format, v->stream->id, &v->report);
	v->account.repeats = v->report.repeats;
	for (int64_t i = 0; i < v->report.repeats; i++, v->until++)
		video_mark_shown(v, v->until, v->until);
}

int
video_look_ahead(struct video *v)
{
	AVFrame *f = v->prefetch;

	if (!v->started) {
		int r = video_decode_later(v);

		if (r < 0)
			return -1;
		v->started = r;
		if (r == 1 && claim_is_time(v->later->best_effort_timestamp,
		    v->stream))
			v->origin = v->later->best_effort_timestamp;
		v->claim.shown_start = (double)v->origin *
		    av_q2d(v->stream->time_base);
	}
	v->have_ahead = v->have_later;
	if (!v->have_ahead) {
		if (v->started)
			video_check_container(v);
		return 0;
	}
	v->prefetch = v->later;
	v->later = f;
	if (video_decode_later(v) < 0)
		return -1;
	video_set_time(v, v->prefetch);
	return 1;
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

/* Conclude the account after the last frame. */
static void
video_conclude(struct video *v)
{
	struct video_account *a = &v->account;
	double hidden;
	int64_t lost;

	if (v->report.state == CONTAINER_CUT) {
		v->claim.cut = 1;
		snprintf(a->cut, sizeof(a->cut), "%s", v->report.text);
	} else if (v->report.state == CONTAINER_BROKEN) {
		video_add_damage(v, "%s", v->report.text);
	}
	video_count_flagged(v, v->report.appended);
	video_find_gaps(v);
	video_find_unshown(v, v->report.newest);
	if ((lost = poc_end(&v->poc)) > 0)
		video_add_damage(v, "%lld frames are missing by their order",
		    (long long)lost);
	/* If no frame's blocks are numbered correctly, blame the writer and
	 * report no damage. */
	for (int64_t i = 0; v->dv_whole > 0 && i < v->dv_broken; i++)
		video_add_damage(v, "a DV frame with misplaced DIF blocks");
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

int
video_next(struct video *v, struct video_frame *frame)
{
	AVFrame *f = v->now;
	int r = 0;

	ff_listen(&v->log);
	if (!v->have_ahead) {
		if (!v->concluded)
			video_conclude(v);
		v->concluded = 1;
		goto out;
	}
	av_frame_unref(f);
	v->now = v->prefetch;
	v->prefetch = f;
	frame->time = v->time;
	if ((r = video_look_ahead(v)) < 0)
		goto out;
	frame->until = v->have_ahead ? v->time : v->until;
	v->account.frames++;
	v->account.decoded = (double)frame->until *
	    av_q2d(v->stream->time_base);
	v->account.resized |= v->now->width != v->first_w ||
	    v->now->height != v->first_h;
	r = 1;
out:
	ff_listen(NULL);
	return r;
}

void
video_free(struct video *v)
{
	if (v == NULL)
		return;
	frame_free(&v->frame);
	av_frame_free(&v->now);
	av_frame_free(&v->prefetch);
	av_frame_free(&v->later);
	av_packet_free(&v->packet);
	av_packet_free(&v->next);
	avcodec_free_context(&v->decoder);
	poc_free(&v->poc);
	shadow_free(&v->shadow);
	free(v->shown);
	avformat_close_input(&v->format);
	source_close(&v->source);
	free(v->path);
	free(v);
}

const struct video_info *
video_info(const struct video *v)
{
	return &v->info;
}

const struct video_account *
video_account(const struct video *v)
{
	return &v->account;
}

int
video_hash(struct video *v, uint64_t *bytes, uint64_t *hash)
{
	if (v->source.error != 0)
		return -1;		/* reported by video_next */
	if (source_hash_to(&v->source, INT64_MAX) != 0)
		return fail_errno("%s: cannot read", Q(v->path));
	*bytes = (uint64_t)v->source.hashed;
	*hash = hasher_64(v->source.hasher);
	return 0;
}

const struct planes *
video_planes(struct video *v, int w, int h)
{
	return frame_planes(&v->frame, v->path, v->now, v->info.turn, w, h);
}

const struct image *
video_rgb(struct video *v, int w, int h)
{
	return frame_rgb(&v->frame, v->path, v->now, v->info.turn, w, h);
}
