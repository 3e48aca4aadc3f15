#ifndef MEDIA_FFMPEG_FF_H
#define MEDIA_FFMPEG_FF_H

/* Internal interface of media/ffmpeg.  No other folder includes it. */

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

#include "base/hash.h"
#include "media/image.h"
#include "media/plane.h"
#include "media/container.h"
#include "media/video.h"

/* ---- the functions of FFmpeg: load.c ---- */

#if LIBAVCODEC_VERSION_MAJOR >= 61
#define FF_SIDE_DATA_CALL(CALL) CALL(av_packet_side_data_get)
#else
#define FF_SIDE_DATA_CALL(CALL) CALL(av_stream_get_side_data)
#endif
/* of libavformat, and of libavcodec and libavutil, which it depends on */
#define FF_FORMAT_CALLS(CALL) \
	CALL(av_color_space_name) CALL(av_dict_free) CALL(av_dict_get) \
	CALL(av_dict_set) CALL(av_dict_set_int) CALL(av_display_rotation_get) \
	CALL(av_find_best_stream) CALL(av_find_input_format) \
	CALL(av_fourcc_make_string) CALL(av_frame_alloc) CALL(av_frame_free) \
	CALL(av_frame_get_side_data) CALL(av_frame_unref) CALL(av_free) \
	CALL(av_freep) CALL(av_get_pix_fmt_name) CALL(av_guess_frame_rate) \
	CALL(av_log_set_callback) CALL(av_malloc) CALL(av_max_alloc) \
	CALL(av_packet_alloc) CALL(av_packet_free) \
	CALL(av_packet_get_side_data) CALL(av_packet_move_ref) \
	CALL(av_packet_unref) CALL(av_pix_fmt_desc_get) \
	CALL(av_probe_input_buffer2) CALL(av_read_frame) \
	CALL(av_read_image_line) CALL(av_strerror) \
	CALL(avcodec_alloc_context3) CALL(avcodec_find_decoder) \
	CALL(avcodec_free_context) CALL(avcodec_get_class) \
	CALL(avcodec_get_name) CALL(avcodec_open2) \
	CALL(avcodec_parameters_to_context) CALL(avcodec_receive_frame) \
	CALL(avcodec_send_packet) CALL(avcodec_version) \
	CALL(avformat_alloc_context) CALL(avformat_close_input) \
	CALL(avformat_find_stream_info) CALL(avformat_get_class) \
	CALL(avformat_index_get_entries_count) CALL(avformat_open_input) \
	CALL(avformat_version) CALL(avio_alloc_context) \
	CALL(avio_context_free) CALL(avutil_version) FF_SIDE_DATA_CALL(CALL)
#define FF_SCALE_CALLS(CALL) \
	CALL(sws_freeContext) CALL(sws_getCoefficients) CALL(sws_getContext) \
	CALL(sws_isSupportedInput) CALL(sws_scale) \
	CALL(sws_setColorspaceDetails) CALL(swscale_version)
/*
 * Set by the first video_ready.  Linking with FFmpeg would load its 140
 * libraries into every process, which takes 40 ms of a processor.
 */
#define CALL(name) __typeof__(name) *name;
extern struct ff_calls { FF_FORMAT_CALLS(CALL) FF_SCALE_CALLS(CALL) } ff;
#undef CALL

/*
 * A packet of at most this many bytes has no frame: it repeats the previous one
 * (MPEG-4 frames that are not coded).
 */
#define FF_NOT_CODED 8

/* Times stay below this, in ticks, so that the sum of two does not overflow. */
#define FF_FAR (INT64_MAX / 4)

/* for ff_out_of_memory */
#include <errno.h>

/*
 * ff_out_of_memory(r):
 * Return 1 if the FFmpeg call that returned ${r} lacked memory.  Parts of
 * FFmpeg do not report it: an index or a packet queue that cannot grow stays
 * shorter.  The C library then sets errno, which the caller has set to 0 before
 * the call.
 */
static inline int
ff_out_of_memory(int r)
{
	return r == AVERROR(ENOMEM) || errno == ENOMEM;
}

/*
 * ff_text(code):
 * Return the text of the FFmpeg error ${code}.  Valid until the thread's next
 * call.
 */
const char *ff_text(int code);

/* Names that differ between FFmpeg versions. */
#if LIBAVUTIL_VERSION_MAJOR >= 58
#define ff_duration(frame) ((frame)->duration)
#else
#define ff_duration(frame) ((frame)->pkt_duration)
#endif

#if LIBAVCODEC_VERSION_MAJOR >= 61
static inline const uint8_t *
ff_side_data(const AVStream *st, enum AVPacketSideDataType type)
{
	const AVPacketSideData *d = ff.av_packet_side_data_get(
	    st->codecpar->coded_side_data, st->codecpar->nb_coded_side_data,
	    type);

	return d != NULL ? d->data : NULL;
}
#else
#define ff_side_data(st, type) \
	((const uint8_t *)ff.av_stream_get_side_data(st, type, NULL))
#endif

/* ---- messages: log.c ---- */

/* FFmpeg's messages at level "error" and above, which are not printed. */
struct ff_log {
	int64_t errors;			/* number of messages */
	char first[160];		/* the first one, "" if none */
	char reason[160];		/* the first one that is not counted */
	const AVCodecContext *decoder;	/* our decoder; NULL: not yet open */
	int in_headers, stream;		/* 1 while reading headers; index of our
					 * stream, or -1 */
	int open_group;		/* in an open group of pictures, whose
				 * references may precede the file: ignore
				 * messages about missing ones */
};

/*
 * ff_listen(l):
 * Send this thread's FFmpeg messages to ${l}; NULL: drop them.  Only those of
 * l->decoder, and those of the demuxer about packets, but not about streams
 * other than l->stream, are counted.  ${l} must stay valid until the next call.
 */
void ff_listen(struct ff_log *l);

/* ff_log_callback(): FFmpeg's callback for messages, which serves ff_listen. */
void ff_log_callback(void *context, int level, const char *fmt, va_list ap);

/* ---- the file: source.c ---- */

/* A regular file as a demuxer reads it. */
struct ff_source {
	int fd, error;			/* error: errno of a failed read, or
					 * 0 */
	int64_t at, size;		/* file position; size in bytes */
	AVIOContext *io;
	struct hasher *hasher;
	int64_t hashed;			/* bytes hashed, from the beginning */
	uint8_t *bytes;			/* the hashed bytes; NULL: the file is
					 * too large to keep */
};

/*
 * source_open(s, fd, size):
 * Set up ${s} for the file ${fd} of ${size} bytes, which the caller keeps open.
 * Return 0, or -1 without a message if memory is exhausted.
 */
int source_open(struct ff_source *s, int fd, int64_t size);

/* source_close(s): release the memory of ${s}; ${fd} stays open. */
void source_close(struct ff_source *s);

/*
 * source_hash_to(s, end):
 * Read and hash the bytes before ${end}, or up to the end of the file, that are
 * not hashed yet.  Return 0, or -1 with errno and without a message if a read
 * fails.
 */
int source_hash_to(struct ff_source *s, int64_t end);

/*
 * source_bytes(s):
 * Return the whole file, or NULL if it is too large to keep or not hashed to
 * its end.  Valid until source_close.
 */
const uint8_t *source_bytes(const struct ff_source *s);

/*
 * source_format(s, path):
 * Return the demuxer for the format that the first bytes show, or NULL after a
 * message if the format is unknown or not allowed.
 */
const AVInputFormat *source_format(struct ff_source *s, const char *path);

/* ---- what the file claims: claim.c ---- */

/*
 * The declared extent of a file, and the extent of its packets, in seconds of
 * the file's clock.  Which declarations are reliable depends on the container;
 * claim.c explains it.
 */
struct ff_claim {
	double start, seconds;	/* declared; ${seconds} is 0 if there is no
				 * declared duration */
	int own;		/* 1 if ${seconds} is of our stream, not of the
				 * longest one */
	int64_t packets;	/* complete packets of our stream, read so
				 * far */
	int64_t discarded;	/* of these, hidden by an edit list */
	int64_t shown;		/* container_report.shown */
	double ours_start, ours_end;	/* extent of our packets that are not
					 * marked for discarding */
	double shown_start, shown_end;	/* extent of the decoded frames */
	int begins_with_key;	/* the first packet of our stream is a key
				 * frame */
	double key_start;	/* display time of that key frame; -1e30:
				 * unknown */
	double next_key;	/* time stamp of the second key frame; 1e30:
				 * unknown */
	int64_t first_dts;	/* dts of the first packet, in ticks */
	int open;		/* 1 while in the first group of pictures, once
				 * it has had a leading picture */
	int recovering;		/* 1 while in the first group, if it begins at
				 * a recovery point */
	int leading;		/* the newest packet is displayed before the
				 * first key frame */
	int complete;		/* container_report.complete */
	int cut;		/* 1 if the last packet or the container is
				 * incomplete */
	int ended_badly;	/* 1 if the demuxer reported an error at the
				 * end */
};

/*
 * claim_read(c, f, st):
 * Set ${*c} from the headers of ${f} for its stream ${st}.
 */
void claim_read(struct ff_claim *c, const AVFormatContext *f,
    const AVStream *st);

/*
 * claim_is_time(t, st):
 * Return 1 if ${t} ticks of ${st} are a valid time.  Return 0 for
 * AV_NOPTS_VALUE and for values so large that FFmpeg derived them from it.
 */
int claim_is_time(int64_t t, const AVStream *st);

/*
 * claim_mend(c, f, p):
 * Correct the times of packet ${p} of our stream of ${f} if the demuxer misread
 * times before 0 as late ones.
 */
void claim_mend(struct ff_claim *c, const AVFormatContext *f, AVPacket *p);

/*
 * claim_packet(c, st, p):
 * Record that packet ${p} of our stream ${st} was read.
 */
void claim_packet(struct ff_claim *c, const AVStream *st, const AVPacket *p);

/*
 * claim_short(c, f, st, frames, seconds):
 * Return 1 if the file ends before its declared end, after ${frames} frames
 * that last ${seconds} in total.
 */
int claim_short(const struct ff_claim *c, const AVFormatContext *f,
    const AVStream *st, int64_t frames, double seconds);

/*
 * claim_hidden(c, frames, seconds):
 * Return the seconds at the end for which there were packets and the decoder
 * returned no frame.  Return 0 if that is at most the length of two frames, or
 * if the file ends within an open first group of pictures.  Arguments as for
 * claim_short.
 */
double claim_hidden(const struct ff_claim *c, int64_t frames, double seconds);

/*
 * claim_hidden_first(c, frames, seconds):
 * Return the seconds at the beginning for which there were packets and the
 * decoder returned no frame.  Return 0 if the file may be intact without them.
 * Leading pictures of an open group do not count: their references precede the
 * file.
 */
double claim_hidden_first(const struct ff_claim *c, int64_t frames,
    double seconds);

/* claim_has_times(f, st): return 1 if a gap in the times of ${st} may be a lost
 * frame. */
int claim_has_times(const AVFormatContext *f, const AVStream *st);

/*
 * claim_index(f, st):
 * Return the number of packets in the file's index, or -1 if indexes of this
 * format do not list every packet.
 */
int64_t claim_index(const AVFormatContext *f, const AVStream *st);

/* ---- frames: frame.c ---- */

/*
 * An swscale context, reused while size, format, color space and range stay the
 * same.
 */
struct ff_scaler {
	struct SwsContext *sws;
	int w, h, format, to_w, to_h, to_format, space, full;
};

/*
 * The converter of frames to wanted sizes, with its buffers.  Begin with all 0.
 */
struct ff_frame {
	struct ff_scaler planes, rgb;	/* for frame_planes, for frame_rgb */
	struct planes frame;		/* views of the decoder's planes */
	struct plane_buffer scaled, turned;
	struct image pixels, upright, expanded;
	AVFrame *view;			/* of ${expanded}; NULL if unused */
	int warned;			/* 1 if an unknown color matrix was
					 * reported */
};

/*
 * frame_planes(p, path, f, turn, w, h), frame_rgb(p, path, f, turn, w, h):
 * Convert frame ${f} to ${w} by ${h} pixels, turned upright by ${turn}, as
 * video_planes or video_rgb (media/video.h).  Return NULL after a message,
 * which names ${path}.  The result belongs to ${p} or to ${f} and is valid
 * until the next call.
 */
const struct planes *frame_planes(struct ff_frame *p, const char *path,
    const AVFrame *f, struct plane_turn turn, int w, int h);
const struct image *frame_rgb(struct ff_frame *p, const char *path,
    const AVFrame *f, struct plane_turn turn, int w, int h);

/* frame_free(p): release the memory of ${p}. */
void frame_free(struct ff_frame *p);

/* ---- a video: open.c, video.c, video_times.c, video_damage.c ---- */

/* A video; media/video.h describes its use. */
struct video {
	char *path;
	struct video_info info;
	struct video_account account;
	struct video_limits limits;
	struct ff_source source;
	struct ff_log log;
	struct ff_claim claim;
	struct container_report report;	/* once the last frame was decoded */
	struct ff_frame frame;
	AVFormatContext *format;
	AVStream *stream;
	AVCodecContext *decoder;
	AVPacket *packet, *next;	/* next: read ahead, if its size is not
					 * 0 */
	/* the frame that video_next returned, and the two after it */
	AVFrame *now, *prefetch, *later;
	int64_t origin;			/* stream time of time 0, in ticks */
	int64_t first;			/* time at which the current one of
					 * several concatenated files begins */
	int64_t stated;			/* time stamp of the newest frame, as
					 * stored */
	int64_t last_pts[2];		/* those of the two newest frames */
	int disordered;			/* 1 once the decoder has returned
					 * frames out of order */
	int64_t time, until;		/* time of ${prefetch}, and its expected
					 * end */
	struct video_frame *shown;	/* intervals of all frames, in decoding
					 * order */
	size_t nshown, cap;
	int64_t heard;			/* log.errors that are already
					 * counted */
	int draining;			/* 1 once all packets were sent */
	int damage_counted;		/* 1 if this packet is already counted
					 * as damage */
	int flagged;			/* 1 if FFmpeg flags this packet as
					 * corrupt */
	int64_t flagged_only;		/* packets whose only sign of damage is
					 * that flag */
	int leading;			/* 1 in a leading picture, whose
					 * references may be missing */
	int have_ahead, have_later;	/* ${prefetch} and ${later} are valid */
	int started, concluded;		/* a frame was decoded; video_conclude
					 * has run */
	int first_w, first_h;		/* size of the first frame, as stored */
};

/*
 * video_look_ahead(v):
 * Set ${v->prefetch} to the frame after ${v->now}, with its times, and decode
 * the one after it.  Return 1, 0 after the last frame, or -1 after a message.
 */
int video_look_ahead(struct video *v);

/*
 * video_too_big(v, w, h):
 * Return 1 after a message if ${w} x ${h} pixels exceed the limit, 0 otherwise.
 */
int video_too_big(const struct video *v, int w, int h);

/*
 * video_keep_stamp(v, f):
 * FFmpeg's best time stamp is the decoding time once a frame's own time steps
 * back.  Keep the own time of frame ${f} after a step that is not one of
 * reordering: from a wild time stamp, to one, or to a restart.
 *
 * video_set_time(v, f):
 * Set the time of frame ${f}, in ticks from the first frame:
 * - Without a time stamp, it is the end of the previous frame.
 * - If the time stamp is wild, it is that end, too, but before the next frame.
 * - If time stamps restart at this frame, it is that end; later times are
 *   shifted by the same difference.
 * - If the time stamp is out of range, or not after the previous frame, it is
 *   one tick after the previous frame.
 * - Otherwise it is the time stamp.
 *
 * video_mark_shown(v, time, until):
 * Record that a frame is displayed from ${time} to ${until}, in ticks from the
 * first frame's time.
 *
 * video_mark_end(v):
 * Record the file's time at the end of the newest frame.
 */
void video_keep_stamp(struct video *v, AVFrame *f);
void video_set_time(struct video *v, const AVFrame *f);
void video_mark_shown(struct video *v, int64_t time, int64_t until);
void video_mark_end(struct video *v);

/*
 * video_mark_damaged(v, what):
 * Count damage once per packet, even if several checks detect it.
 *
 * video_has_new_errors(v):
 * Return 1 if FFmpeg has reported errors since the last call.
 *
 * video_conclude(v):
 * Conclude the account after the last frame.
 */
void video_mark_damaged(struct video *v, const char *what);
int video_has_new_errors(struct video *v);
void video_conclude(struct video *v);

#endif
