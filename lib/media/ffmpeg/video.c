/* Decode packets to frames. */
#include <errno.h>
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

/* ---- packets ---- */

/* Record the time of an empty packet ${p}, which repeats the previous frame. */
static void
video_mark_packet(struct video *v, const AVPacket *p)
{
	int64_t t = 0;

	if (v->started && claim_is_time(p->pts, v->stream) &&
	    !__builtin_sub_overflow(p->pts, v->origin, &t) && t > 0 &&
	    t < FF_FAR)
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
		r = ff.av_read_frame(v->format, p);
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
		}
		/*
		 * video_next_packet reports an incomplete packet in more
		 * detail.
		 */
		if (video_has_new_errors(v) &&
		    !(p->flags & AV_PKT_FLAG_CORRUPT))
			video_mark_damaged(v, "error in the container");
		if (ours && p->size <= FF_NOT_CODED &&
		    (p->size == 0 || st->codecpar->codec_id ==
		    AV_CODEC_ID_MPEG4))
			video_mark_packet(v, p);
		if (ours && p->size > 0 && !video_is_comment(v, p))
			return 1;
		ff.av_packet_unref(p);
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
	ff.av_packet_unref(v->packet);
	if (v->next->size > 0)
		ff.av_packet_move_ref(v->packet, v->next);
	else if ((r = video_read_packet(v, v->packet)) != 1)
		return r;
	if (ff.av_packet_get_side_data(v->packet, AV_PKT_DATA_ENCRYPTION_INFO,
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
	r = ff.avcodec_send_packet(v->decoder, v->draining ? NULL : v->packet);
	if (ff_out_of_memory(r))
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
		r = ff.avcodec_receive_frame(v->decoder, f);
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
	/* Read what the demuxer has skipped; if that fails, container_check
	 * reads the file itself. */
	source_hash_to(&v->source, v->source.size);
	container_check(container_find(v->info.format), v->source.fd,
	    v->source.size, source_bytes(&v->source), v->stream->id,
	    &v->report);
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
	ff.av_frame_unref(f);
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
	ff.av_frame_free(&v->now);
	ff.av_frame_free(&v->prefetch);
	ff.av_frame_free(&v->later);
	ff.av_packet_free(&v->packet);
	ff.av_packet_free(&v->next);
	ff.avcodec_free_context(&v->decoder);
	free(v->shown);
	ff.avformat_close_input(&v->format);
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
