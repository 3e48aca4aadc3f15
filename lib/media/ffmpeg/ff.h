#ifndef MEDIA_FFMPEG_FF_H
#define MEDIA_FFMPEG_FF_H

/* What the files of this folder share; nobody else includes it. */

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

#include "base/hash.h"
#include "media/image.h"
#include "media/plane.h"
#include "media/video.h"

/* A packet of at most this many bytes holds no frame but repeats the last one
 * (MPEG-4 frames that are not coded). */
#define FF_NOT_CODED 8

/* Nothing else includes errno.h for these. */
#include <errno.h>

/*
 * ff_starved(r): did the call that returned ${r} lack memory?  Not all of
 * FFmpeg says so: an index or a queue of packets that cannot grow is just
 * shorter.  But the C library sets errno, if the caller has set it to 0 before.
 */
static inline int
ff_starved(int r)
{
	return r == AVERROR(ENOMEM) || errno == ENOMEM;
}

/* ff_text(code): what an FFmpeg error code means. */
const char *ff_text(int code);

/* What has other names in newer versions. */
#if LIBAVUTIL_VERSION_MAJOR >= 58
#define ff_duration(frame) ((frame)->duration)
#else
#define ff_duration(frame) ((frame)->pkt_duration)
#endif

#if LIBAVCODEC_VERSION_MAJOR >= 61
static inline const uint8_t *
ff_side_data(const AVStream *st, enum AVPacketSideDataType type)
{
	const AVPacketSideData *d = av_packet_side_data_get(
	    st->codecpar->coded_side_data, st->codecpar->nb_coded_side_data,
	    type);

	return d != NULL ? d->data : NULL;
}
#else
#define ff_side_data(st, type) \
	((const uint8_t *)av_stream_get_side_data(st, type, NULL))
#endif

/* ---- messages: log.c ---- */

/* What FFmpeg says at level "error" and above, instead of to stderr. */
struct ff_log {
	int64_t errors;
	char first[160];
	int open_group;		/* an open group of pictures: references may
				 * precede the file */
};

/*
 * ff_listen(l): from now on this thread's messages go to ${l}; NULL: nowhere.
 * Those of codecs that are not video are left out: a broken sound track is no
 * concern of ours.
 */
void ff_listen(struct ff_log *l);

/* ---- the file: source.c ---- */

/* A demuxer's view of a regular file; error is the errno of a failed read. */
struct ff_source {
	int fd, error;
	int64_t at, size;
	AVIOContext *io;
	struct hasher *hasher;
	int64_t hashed;			/* bytes from the beginning */
	uint8_t *bytes;			/* those that are hashed; NULL: the file
					 * is too large to keep */
};

/* source_open(s, fd, size): -1 without a message if there is no memory. */
int source_open(struct ff_source *s, int fd, int64_t size);
void source_close(struct ff_source *s);

/* source_hash_to(s, end): read and hash the bytes before ${end} that are not
 * hashed yet, or up to the end of the file.  -1 and errno if one cannot be
 * read. */
int source_hash_to(struct ff_source *s, int64_t end);

/* source_bytes(s): the whole file, or NULL if it is too large to keep or was not
 * read to the end.  Valid until source_close. */
const uint8_t *source_bytes(const struct ff_source *s);

/*
 * source_format(s, path): the demuxer for what the file holds, by its first
 * bytes; NULL after a message if it is none that may be used.
 */
const AVInputFormat *source_format(struct ff_source *s, const char *path);

/* ---- what the file claims: claim.c ---- */

/*
 * How far a file reaches, in seconds of its own clock, and what it claims.
 * Which claims can be relied on depends on the container; claim.c says how.
 */
struct ff_claim {
	double start, seconds;	/* claimed; 0 seconds: no claim in time */
	int own;		/* the claim is of our stream, not of any */
	int64_t packets;	/* whole ones of our stream, read so far */
	double ours_start, ours_end;	/* of our packets that give frames */
	double shown_start, shown_end;	/* of the frames decoded */
	int begins_with_key;	/* the first packet of our stream is a key
				 * frame */
	double key_start;	/* display time of that key frame; -1e30:
				 * unknown */
	double next_key;	/* time stamp of the second key frame */
	int64_t first_dts;	/* dts of the first packet, in ticks */
	int open;		/* the first group of pictures has had a leading
				 * picture, and is not over */
	int leading;		/* the newest packet is displayed before the
				 * first key frame */
	int complete;		/* the container says that all of it is there */
	int cut;		/* the last packet, or the container, is incomplete */
	int ended_badly;	/* the demuxer met an error where it ended */
};

/* claim_read(c, f, st): what the headers say of stream ${st}. */
void claim_read(struct ff_claim *c, const AVFormatContext *f,
    const AVStream *st);

/*
 * claim_is_time(t, st): return 1 if ${t} ticks of ${st} are a valid time.
 * Return 0 for AV_NOPTS_VALUE and for values so large that FFmpeg derived them
 * from it.
 */
int claim_is_time(int64_t t, const AVStream *st);

/*
 * claim_mend(c, f, p): correct the times of packet ${p} of our stream of ${f}
 * if the demuxer misread times before 0 as late ones.
 */
void claim_mend(struct ff_claim *c, const AVFormatContext *f, AVPacket *p);

/*
 * claim_packet(c, st, p): record that packet ${p} of our stream ${st} was read.
 */
void claim_packet(struct ff_claim *c, const AVStream *st, const AVPacket *p);

/* claim_short(c, f, st, frames, seconds): 1 if the file ends before what it
 * claims, after ${frames} frames of ${seconds} in all. */
int claim_short(const struct ff_claim *c, const AVFormatContext *f,
    const AVStream *st, int64_t frames, double seconds);

/* claim_hidden(c, ...): seconds at the end for which packets were there and
 * the decoder gave no frame; 0 if it is within what is usual. */
double claim_hidden(const struct ff_claim *c, int64_t frames, double seconds);

/*
 * claim_hidden_first(c, ...): return the seconds at the beginning for which
 * there were packets and the decoder returned no frame, or 0 if that is usual.
 * Leading pictures of an open group do not count: their references precede the
 * file.
 */
double claim_hidden_first(const struct ff_claim *c, int64_t frames,
    double seconds);

/* claim_has_times(f, st): return 1 if a gap in the times of ${st} may be a lost
 * frame. */
int claim_has_times(const AVFormatContext *f, const AVStream *st);

/* claim_index(f, st): packets the index of a file with a full index lists,
 * -1 if this container's index is not full. */
int64_t claim_index(const AVFormatContext *f, const AVStream *st);

/* ---- the order of frames: poc.c ---- */

/* The numbers, in the order of showing, that frames of raw streams carry. */
struct ff_poc {
	AVCodecParserContext *parser;	/* NULL: this stream has none */
	AVCodecContext *codec;
	int *number;			/* of the group that is read */
	size_t n, cap;
	int step;			/* from one frame to the next; 0: unknown */
	int64_t lost;
	int unsure;			/* what is not followed is in the stream */
};

/* poc_begin(o, f, st): for stream ${st} of ${f}; -1 if there is no memory. */
int poc_begin(struct ff_poc *o, const AVFormatContext *f,
    const AVStream *st);

/* poc_packet(o, p): the next packet; -1 if there is no memory. */
int poc_packet(struct ff_poc *o, const AVPacket *p);

/* poc_end(o): how many frames are missing between others. */
int64_t poc_end(struct ff_poc *o);
void poc_free(struct ff_poc *o);

/* ---- detection of cut slices by a second decoder: shadow.c ---- */

/* A second decoder, which sees other bytes after the end of each slice.  Its
 * frames differ from the first decoder's if a slice was cut. */
struct ff_shadow {
	AVCodecContext *decoder;	/* NULL: this stream needs no second
					 * decoder */
	AVPacket *packet;
	AVFrame *frame;
	int differs;			/* the newest frame differs from the
					 * first decoder's */
};

/*
 * shadow_begin(s, f, decoder, options):
 * Open a second decoder for the stream of ${decoder} if ${f} is raw HEVC;
 * otherwise do nothing.  Return 0, or -1 without a message if memory is
 * exhausted.
 */
int shadow_begin(struct ff_shadow *s, const AVFormatContext *f,
    const AVCodecContext *decoder, AVDictionary **options);

/*
 * shadow_packet(s, p):
 * Decode packet ${p} with the second decoder; NULL after the last packet.
 * Return 0, or -1 without a message if memory is exhausted.
 */
int shadow_packet(struct ff_shadow *s, const AVPacket *p);

/*
 * shadow_differs(s, f):
 * Compare the first decoder's next frame ${f} with the second decoder's.
 * Return 1 if ${f} is the first of consecutive frames that differ: they depend
 * on bytes that are not in the file.  Return 0 otherwise.
 */
int shadow_differs(struct ff_shadow *s, const AVFrame *f);
void shadow_free(struct ff_shadow *s);

/* ---- frames: frame.c ---- */

/* One conversion of swscale, kept while its ends stay the same. */
struct ff_scaler {
	struct SwsContext *sws;
	int w, h, format, to_w, to_h, to_format, space, full;
};

struct ff_frame {
	struct ff_scaler planes, rgb;
	struct planes frame;		/* the decoder's own */
	struct plane_buffer scaled, turned;
	struct image pixels, upright;
	int warned;
};

/* frame_planes, frame_rgb: as video_planes, video_rgb, of frame ${f}. */
const struct planes *frame_planes(struct ff_frame *p, const char *path,
    const AVFrame *f, struct plane_turn turn, int w, int h);
const struct image *frame_rgb(struct ff_frame *p, const char *path,
    const AVFrame *f, struct plane_turn turn, int w, int h);
void frame_free(struct ff_frame *p);

/* ---- a video: open.c, video.c ---- */

struct video {
	char *path;
	struct video_info info;
	struct video_account account;
	struct video_limits limits;
	struct ff_source source;
	struct ff_log log;
	struct ff_claim claim;
	struct ff_poc poc;
	struct ff_shadow shadow;
	int64_t dv_whole, dv_broken;	/* DV packets in a container: complete,
					 * and not */
	struct ff_frame frame;
	AVFormatContext *format;
	AVStream *stream;
	AVCodecContext *decoder;
	AVPacket *packet, *next;	/* next: read ahead, unless it is empty */
	AVFrame *now, *ahead;
	int64_t origin;			/* stream time that is time 0 */
	int64_t first;			/* time at which the current one of
					 * several joined files begins */
	int64_t stated;			/* time stamp of the newest frame */
	int64_t time, until;		/* of ahead; what it would be next */
	struct video_frame *shown;	/* all frames, as they came */
	size_t nshown, cap;
	int64_t heard;			/* log.errors already accounted for */
	int draining;			/* all packets were sent */
	int hurt;			/* this packet is already counted */
	int flagged;			/* FFmpeg flags this packet as
					 * corrupt */
	int64_t flagged_only;		/* packets that only this flag calls
					 * damaged */
	int leading;			/* leading picture: its references may
					 * be missing */
	int have_ahead, started, concluded;
	int first_w, first_h;		/* as stored */
};

/*
 * video_look_ahead(v): decode the frame after ${v->now} into ${v->ahead}.  1,
 * 0 if there is none, -1 after a message.
 */
int video_look_ahead(struct video *v);

/* video_too_big(v, w, h): 1 after a message if that is beyond the limit. */
int video_too_big(const struct video *v, int w, int h);

#endif
