/* Write RGB frames to a video file by FFmpeg. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "media/ffmpeg/ff.h"
#include "encode.h"

#define Q text_quote
#define BUFFER 65536

struct encoder {
	char *path;
	int w, h;
	int64_t frames;
	struct commit *file;
	int error;			/* errno of a failed write */
	int64_t at;			/* offset in the file */
	AVIOContext *io;
	AVFormatContext *format;
	AVCodecContext *codec;
	AVStream *stream;
	AVFrame *frame;
	AVPacket *packet;
	struct SwsContext *sws;
	struct ff_log log;
};

/* ---- the file ---- */

/* Since FFmpeg 7 the buffer is const. */
#if LIBAVFORMAT_VERSION_MAJOR >= 61
typedef const uint8_t io_bytes;
#else
typedef uint8_t io_bytes;
#endif

static int
encode_write_some(void *opaque, io_bytes *from, int n)
{
	struct encoder *e = opaque;
	ssize_t done;

	do
		done = pwrite(commit_fd(e->file), from, (size_t)n, e->at);
	while (done < 0 && errno == EINTR);
	if (done <= 0) {
		e->error = done < 0 ? errno : EIO;
		return AVERROR(e->error);
	}
	e->at += done;
	return (int)done;
}

/* Muxers seek back to write sizes and the index at the end. */
static int64_t
encode_seek(void *opaque, int64_t to, int whence)
{
	struct encoder *e = opaque;

	whence &= ~AVSEEK_FORCE;
	if (whence == AVSEEK_SIZE)
		return lseek(commit_fd(e->file), 0, SEEK_END);
	if (whence == SEEK_CUR)
		to += e->at;
	else if (whence == SEEK_END)
		to += lseek(commit_fd(e->file), 0, SEEK_END);
	if (to < 0)
		return AVERROR(EINVAL);
	return e->at = to;
}

/* Print why FFmpeg failed: the write error, or the text of its error code. */
static int
encode_failed(struct encoder *e, int code)
{
	if (e->error != 0) {
		errno = e->error;
		return fail_errno("%s: cannot write", Q(e->path));
	}
	return fail("%s: cannot encode: %s", Q(e->path),
	    e->log.first[0] != '\0' ? e->log.first : ff_text(code));
}

static int
encode_open_file(struct encoder *e)
{
	unsigned char *buffer;

	if ((e->file = commit_open(e->path, NULL)) == NULL)
		return -1;
	if ((buffer = av_malloc(BUFFER)) == NULL)
		return fail("%s: out of memory", Q(e->path));
	e->io = avio_alloc_context(buffer, BUFFER, 1, e, NULL,
	    encode_write_some, encode_seek);
	if (e->io == NULL) {
		av_free(buffer);
		return fail("%s: out of memory", Q(e->path));
	}
	e->format->pb = e->io;
	e->format->flags |= AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_BITEXACT;
	return 0;
}

/* ---- the encoder ---- */

int
encoder_known(const char *codec)
{
	const AVCodec *c = avcodec_find_encoder_by_name(codec);

	return c != NULL && c->type == AVMEDIA_TYPE_VIDEO;
}

/* Return 4:2:0, which all players support, or the first format of the codec. */
static enum AVPixelFormat
encode_choose_pixels(const AVCodec *codec)
{
	const enum AVPixelFormat *p = codec->pix_fmts;

	for (; p != NULL && *p != AV_PIX_FMT_NONE; p++)
		if (*p == AV_PIX_FMT_YUV420P || *p == AV_PIX_FMT_YUVJ420P)
			return *p;
	return codec->pix_fmts != NULL ? codec->pix_fmts[0] :
	    AV_PIX_FMT_YUV420P;
}

/*
 * Set the quality, 1 to 100, on the scale of the codec.  x264, x265, VP9 and
 * AV1 have a constant rate factor from 0 (best) to 51 or 63.  Older codecs have
 * a quantizer from 1 or 2 (best) to 31.  Lossless codecs have no quality.
 */
static void
encode_set_quality(AVCodecContext *c, AVDictionary **options, int quality)
{
	int worse = 100 - quality;

	if (strstr(c->codec->name, "vpx") != NULL ||
	    strstr(c->codec->name, "av1") != NULL) {
		av_dict_set_int(options, "crf", worse * 63 / 100, 0);
		c->bit_rate = 0;
	} else if (strstr(c->codec->name, "264") != NULL ||
	    strstr(c->codec->name, "265") != NULL) {
		av_dict_set_int(options, "crf", worse * 51 / 100, 0);
	} else {
		c->flags |= AV_CODEC_FLAG_QSCALE;
		c->global_quality = FF_QP2LAMBDA * (2 + worse * 29 / 100);
	}
}

static int
encode_open_codec(struct encoder *e, const struct encoder_options *o)
{
	const AVCodec *codec = avcodec_find_encoder_by_name(o->codec);
	AVDictionary *options = NULL;
	AVCodecContext *c;
	int r;

	if (codec == NULL || codec->type != AVMEDIA_TYPE_VIDEO)
		return fail("%s: this FFmpeg has no video encoder \"%s\"",
		    Q(e->path), o->codec);
	c = e->codec = avcodec_alloc_context3(codec);
	if (c == NULL || (e->stream = avformat_new_stream(e->format, NULL)) ==
	    NULL)
		return fail("%s: out of memory", Q(e->path));
	c->width = o->w;
	c->height = o->h;
	c->pix_fmt = encode_choose_pixels(codec);
	c->time_base = (AVRational){ o->fps.den, o->fps.num };
	c->framerate = (AVRational){ o->fps.num, o->fps.den };
	c->thread_count = 1;
	c->flags |= AV_CODEC_FLAG_BITEXACT;
	/* Some encoders accept full range only with this setting. */
	c->strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL;
	c->color_range = c->pix_fmt == AV_PIX_FMT_YUVJ420P ?
	    AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
	c->colorspace = AVCOL_SPC_SMPTE170M;
	if (o->keyframes > 0)
		c->gop_size = o->keyframes;
	if (e->format->oformat->flags & AVFMT_GLOBALHEADER)
		c->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
	encode_set_quality(c, &options, o->quality);
	if (strcmp(codec->name, "libx265") == 0)
		av_dict_set(&options, "x265-params",
		    "log-level=none:frame-threads=1:wpp=0:pmode=0:pme=0:"
		    "lookahead-slices=0", 0);	/* no thread pool */
	/*
	 * With macroblock trees, x264 164 gives different bytes in each run.
	 */
	if (strcmp(codec->name, "libx264") == 0)
		av_dict_set(&options, "x264-params", "mbtree=0", 0);
	if (strncmp(codec->name, "libvpx", 6) == 0)
		av_dict_set(&options, "cpu-used", "8", 0);
	/* Speed matters more here than small files. */
	av_dict_set(&options, "preset", "veryfast", 0);
	av_dict_set(&options, "deadline", "realtime", 0);
	r = avcodec_open2(c, codec, &options);
	av_dict_free(&options);
	if (r < 0)
		return encode_failed(e, r);
	e->stream->time_base = c->time_base;
	e->stream->avg_frame_rate = c->framerate;
	if (avcodec_parameters_from_context(e->stream->codecpar, c) < 0)
		return fail("%s: out of memory", Q(e->path));
	return 0;
}

static int
encode_open_frame(struct encoder *e)
{
	AVFrame *f = e->frame = av_frame_alloc();

	e->packet = av_packet_alloc();
	if (f == NULL || e->packet == NULL)
		return fail("%s: out of memory", Q(e->path));
	f->format = e->codec->pix_fmt;
	f->width = e->w;
	f->height = e->h;
	f->color_range = e->codec->color_range;
	f->colorspace = e->codec->colorspace;
	e->sws = sws_getContext(e->w, e->h, AV_PIX_FMT_RGB24, e->w, e->h,
	    f->format, SWS_AREA | SWS_ACCURATE_RND, NULL, NULL, NULL);
	if (e->sws == NULL || av_frame_get_buffer(f, 0) < 0)
		return fail("%s: out of memory", Q(e->path));
	(void)sws_setColorspaceDetails(e->sws,
	    sws_getCoefficients(SWS_CS_ITU601), 1,
	    sws_getCoefficients(SWS_CS_ITU601),
	    f->color_range == AVCOL_RANGE_JPEG, 0, 1 << 16, 1 << 16);
	return 0;
}

struct encoder *
encoder_open(const char *path, const struct encoder_options *o)
{
	struct encoder *e;
	int r;

	if (video_ready() != 0)		/* for ff_listen and ff_text */
		return NULL;
	e = xcalloc(1, sizeof(*e));
	e->path = xstrdup(path);
	e->w = o->w;
	e->h = o->h;
	ff_listen(&e->log);
	r = avformat_alloc_output_context2(&e->format, NULL, NULL, path);
	if (r < 0 || e->format == NULL) {
		fail("%s: no container has this extension (wanted .mp4, .mkv, "
		    ".avi, .webm ...)", Q(path));
		goto err;
	}
	if (encode_open_codec(e, o) != 0 || encode_open_frame(e) != 0 ||
	    encode_open_file(e) != 0)
		goto err;
	if ((r = avformat_write_header(e->format, NULL)) < 0) {
		encode_failed(e, r);
		goto err;
	}
	ff_listen(NULL);
	return e;
err:
	ff_listen(NULL);
	encoder_drop(e);
	return NULL;
}

/* Encode ${f}, or flush the encoder if it is NULL, and write the packets. */
static int
encode(struct encoder *e, const AVFrame *f)
{
	int r = avcodec_send_frame(e->codec, f);

	if (r < 0)
		return encode_failed(e, r);
	while ((r = avcodec_receive_packet(e->codec, e->packet)) == 0) {
		av_packet_rescale_ts(e->packet, e->codec->time_base,
		    e->stream->time_base);
		if (e->packet->duration == 0)
			e->packet->duration = av_rescale_q(1,
			    e->codec->time_base, e->stream->time_base);
		r = av_interleaved_write_frame(e->format, e->packet);
		if (r < 0)
			return encode_failed(e, r);
	}
	return r == AVERROR(EAGAIN) || r == AVERROR_EOF ? 0 : encode_failed(e,
	    r);
}

int
encoder_add(struct encoder *e, const struct image *m)
{
	const uint8_t *from[4] = { m->data };
	int stride[4] = { 3 * m->w }, result = -1;

	if (m->w != e->w || m->h != e->h || m->c != 3)
		return fail("%s: frame %lld: %dx%dx%d (wanted %dx%dx3)",
		    Q(e->path), (long long)e->frames, m->w, m->h, m->c, e->w,
		    e->h);
	ff_listen(&e->log);
	if (av_frame_make_writable(e->frame) < 0) {
		fail("%s: out of memory", Q(e->path));
		goto out;
	}
	sws_scale(e->sws, from, stride, 0, m->h, e->frame->data,
	    e->frame->linesize);
	e->frame->pts = e->frames++;
	e->frame->quality = e->codec->global_quality;
	result = encode(e, e->frame);
out:
	ff_listen(NULL);
	return result;
}

int
encoder_done(struct encoder *e)
{
	struct commit *file;
	int r, result = -1;

	ff_listen(&e->log);
	if (encode(e, NULL) != 0)
		goto out;
	if ((r = av_write_trailer(e->format)) < 0 || e->error != 0) {
		encode_failed(e, r);
		goto out;
	}
	avio_flush(e->io);
	if (e->error != 0) {
		encode_failed(e, 0);
		goto out;
	}
	file = e->file;
	e->file = NULL;
	result = commit_done(file);
out:
	ff_listen(NULL);
	encoder_drop(e);
	return result;
}

void
encoder_drop(struct encoder *e)
{
	if (e == NULL)
		return;
	sws_freeContext(e->sws);
	av_frame_free(&e->frame);
	av_packet_free(&e->packet);
	avcodec_free_context(&e->codec);
	avformat_free_context(e->format);
	if (e->io != NULL)
		av_freep(&e->io->buffer);
	avio_context_free(&e->io);
	commit_drop(e->file);
	free(e->path);
	free(e);
}
