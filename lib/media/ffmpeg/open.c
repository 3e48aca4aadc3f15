/*
 * Open a video: identify the format, choose a stream, open its decoder and
 * decode the first frame.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "media/ffmpeg/ff.h"

#define MAX_EXPECTED 1e6	/* maximum believed number of frames */
#define Q text_quote

/* Refuse a demuxer's request to open another file. */
static int
video_refuse_open(AVFormatContext *f, AVIOContext **io, const char *url,
    int flags, AVDictionary **options)
{
	(void)f, (void)io, (void)url, (void)flags, (void)options;
	return AVERROR(EPERM);
}

/* Return FFmpeg's first message, "" if none. */
static const char *
video_reason(const struct video *v)
{
	return v->log.first[0] != '\0' ? v->log.first : v->log.reason;
}

/*
 * Report why FFmpeg refused.  Its first message says more than its error code.
 * The most common one is that of an mp4 file without its end.
 */
static int
video_unreadable(const struct video *v, const char *what, int code)
{
	const char *why = video_reason(v)[0] != '\0' ? video_reason(v) :
	    ff_text(code);

	return fail("%s: cannot read as %s: %s%s", Q(v->path), what, why,
	    text_starts(why, "moov atom not found") ?
	    ", as if cut before its index" : "");
}

int
video_too_big(const struct video *v, int w, int h)
{
	if ((int64_t)w * h <= v->limits.pixels)
		return 0;
	fail("%s: %dx%d is %lld pixels (wanted at most %lld: --max-pixels)",
	    Q(v->path), w, h, (long long)w * h, (long long)v->limits.pixels);
	return 1;
}

/*
 * Return options for every decoder, also for those of
 * avformat_find_stream_info.
 */
static AVDictionary *
video_decoder_options(const struct video *v)
{
	AVDictionary *d = NULL;

	/* FFmpeg's limit includes padding, so it is looser.  video_look_ahead
	 * checks the exact size. */
	ff.av_dict_set_int(&d, "max_pixels", 2 * v->limits.pixels + (1 << 16),
	    0);
	ff.av_dict_set(&d, "threads", "1", 0);
	return d;
}

static int
video_open_container(struct video *v)
{
	const AVInputFormat *format = source_format(&v->source, v->path);
	AVDictionary **options;
	unsigned n;
	int r;

	if (format == NULL)
		return -1;
	if ((v->format = ff.avformat_alloc_context()) == NULL)
		return fail("%s: out of memory", Q(v->path));
	v->format->pb = v->source.io;
	v->format->flags |= AVFMT_FLAG_CUSTOM_IO;
	v->format->io_open = video_refuse_open;
	v->format->error_recognition |= AV_EF_CRCCHECK;
	snprintf(v->info.format, sizeof(v->info.format), "%.*s",
	    (int)strcspn(format->name, ","), format->name);
	errno = 0;
	v->log.in_headers = 1;
	/* avformat_open_input frees the context on failure. */
	r = ff.avformat_open_input(&v->format, "", format, NULL);
	v->log.in_headers = 0;
	if (ff_out_of_memory(r))
		return fail("%s: out of memory", Q(v->path));
	if (r < 0)
		return video_unreadable(v, v->info.format, r);
	n = v->format->nb_streams;
	for (unsigned i = 0; i < n; i++) {
		const AVCodecParameters *p = v->format->streams[i]->codecpar;

		if (p->codec_type == AVMEDIA_TYPE_VIDEO &&
		    video_too_big(v, p->width, p->height))
			return -1;
	}
	options = xcalloc(n, sizeof(*options));
	for (unsigned i = 0; i < n; i++)
		options[i] = video_decoder_options(v);
	errno = 0;
	r = ff.avformat_find_stream_info(v->format, n > 0 ? options : NULL);
	for (unsigned i = 0; i < n; i++)
		ff.av_dict_free(&options[i]);
	free(options);
	if (ff_out_of_memory(r))
		return fail("%s: out of memory", Q(v->path));
	if (r < 0)
		return video_unreadable(v, v->info.format, r);
	return 0;
}

/* Report which streams the file has, none of which can be used. */
static int
video_none_found(const struct video *v)
{
	int sounds = 0, covers = 0;

	for (unsigned i = 0; i < v->format->nb_streams; i++) {
		const AVStream *st = v->format->streams[i];

		sounds += st->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
		covers += (st->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
	}
	return fail("%s: no video stream%s%s", Q(v->path),
	    sounds > 0 ? ", only sound" : "",
	    covers > 0 ? " and a cover picture" : "");
}

/* Choose FFmpeg's best video stream, excluding cover pictures. */
static int
video_choose_stream(struct video *v)
{
	AVFormatContext *f = v->format;
	int best = ff.av_find_best_stream(f, AVMEDIA_TYPE_VIDEO, -1, -1, NULL,
	    0);

	for (unsigned i = 0; i < f->nb_streams && (best < 0 ||
	    f->streams[best]->disposition & AV_DISPOSITION_ATTACHED_PIC); i++)
		if (f->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
		    !(f->streams[i]->disposition & AV_DISPOSITION_ATTACHED_PIC))
			best = (int)i;
	if (best < 0 ||
	    f->streams[best]->disposition & AV_DISPOSITION_ATTACHED_PIC)
		return video_none_found(v);
	v->stream = f->streams[best];
	/* If the index shows whether the file is complete, read only our
	 * stream. */
	if (claim_index(f, v->stream) > 0)
		for (unsigned i = 0; i < f->nb_streams; i++)
			if ((int)i != best)
				f->streams[i]->discard = AVDISCARD_ALL;
	return 0;
}

/*
 * Return 1 if the headers declare encryption.  video_next_packet checks
 * packets.
 */
static int
video_is_encrypted(const AVStream *st)
{
	return ff_side_data(st, AV_PKT_DATA_ENCRYPTION_INIT_INFO) != NULL ||
	    ff.av_dict_get(st->metadata, "enc_key_id", NULL, 0) != NULL;
}

static int
video_open_decoder(struct video *v)
{
	AVCodecParameters *p = v->stream->codecpar;
	const AVCodec *codec = ff.avcodec_find_decoder(p->codec_id);
	AVDictionary *options;
	char tag[AV_FOURCC_MAX_STRING_SIZE];
	int r;

	if (video_is_encrypted(v->stream))
		return fail("%s: the video is encrypted", Q(v->path));
	if (codec == NULL)
		return fail("%s: this FFmpeg has no decoder for codec \"%s\"",
		    Q(v->path), p->codec_id != AV_CODEC_ID_NONE ?
		    ff.avcodec_get_name(p->codec_id) :
		    ff.av_fourcc_make_string(tag, p->codec_tag));
	snprintf(v->info.codec, sizeof(v->info.codec), "%s",
	    ff.avcodec_get_name(p->codec_id));
	v->decoder = ff.avcodec_alloc_context3(codec);
	if (v->decoder == NULL ||
	    ff.avcodec_parameters_to_context(v->decoder, p) < 0)
		return fail("%s: out of memory", Q(v->path));
	v->log.decoder = v->decoder;
	v->log.stream = v->stream->index;
	v->decoder->pkt_timebase = v->stream->time_base;
	v->decoder->err_recognition |= AV_EF_CRCCHECK;
	options = video_decoder_options(v);
	errno = 0;
	r = ff.avcodec_open2(v->decoder, codec, &options);
	ff.av_dict_free(&options);
	if (ff_out_of_memory(r))
		return fail("%s: out of memory", Q(v->path));
	if (r < 0)
		return video_unreadable(v, v->info.codec, r);
	return 0;
}

/*
 * Set the turn from the display matrix { a b . c d . }, which displays the
 * stored pixel (x, y) at (a x + c y, b x + d y).  Eight matrices turn by
 * multiples of 90 degrees or mirror; others are reported and ignored.  The
 * container's matrix takes precedence over that of the first frame.
 */
static void
video_read_turn(struct video *v)
{
	const int32_t *m = (const int32_t *)ff_side_data(v->stream,
	    AV_PKT_DATA_DISPLAYMATRIX);
	const AVFrameSideData *in_frame = ff.av_frame_get_side_data(v->prefetch,
	    AV_FRAME_DATA_DISPLAYMATRIX);
	struct plane_turn *t = &v->info.turn;

	if (m == NULL && in_frame != NULL)
		m = (const int32_t *)in_frame->data;
	if (m == NULL)
		return;
	if (m[1] == 0 && m[3] == 0 && m[0] != 0 && m[4] != 0)
		*t = (struct plane_turn){ 0, m[0] < 0, m[4] < 0 };
	else if (m[0] == 0 && m[4] == 0 && m[1] != 0 && m[3] != 0)
		*t = (struct plane_turn){ 1, m[3] < 0, m[1] < 0 };
	else
		warning("%s: the display matrix turns by %.1f degrees: not "
		    "followed", Q(v->path), -ff.av_display_rotation_get(m));
}

/*
 * Return the number of frames by the declared duration, or by FFmpeg's estimate
 * of it.
 */
static double
video_likely(const struct video *v)
{
	const struct video_info *i = &v->info;
	double seconds = i->declared_seconds > 0 || v->format->duration ==
	    AV_NOPTS_VALUE ? i->declared_seconds : (double)v->format->duration /
	    AV_TIME_BASE;

	return i->rate[0].den > 0 && seconds > 0 ? seconds * i->rate[0].num /
	    i->rate[0].den : 0;
}

/* Add a margin, so that lists of frames seldom grow. */
static size_t
video_expected_frames(double n)
{
	return n > 0 ? 16 + (size_t)(n < MAX_EXPECTED ? n * 1.02 :
	    MAX_EXPECTED) : 0;
}

static void
video_read_info(struct video *v)
{
	struct video_info *i = &v->info;
	const AVStream *st = v->stream;
	AVRational guess = ff.av_guess_frame_rate(v->format, v->stream, NULL);

	i->tick = (struct fraction){ st->time_base.num, st->time_base.den };
	i->rate[0] = (struct fraction){ st->avg_frame_rate.num,
	    st->avg_frame_rate.den };
	i->rate[1] = (struct fraction){ guess.num, guess.den };
	claim_read(&v->claim, v->format, st);
	i->declared_seconds = v->claim.seconds;
	i->likely_frames = video_likely(v);
	i->expected = video_expected_frames(i->likely_frames);
	v->cap = i->expected;
	v->shown = xcalloc(v->cap, sizeof(*v->shown));
}

/* Set the information that only a decoded frame has. */
static void
video_read_first(struct video *v)
{
	const AVFrame *f = v->prefetch;
	const char *pixels = ff.av_get_pix_fmt_name(f->format);
	struct video_info *i = &v->info;

	video_read_turn(v);
	v->first_w = f->width;
	v->first_h = f->height;
	i->width = i->turn.swap ? f->height : f->width;
	i->height = i->turn.swap ? f->width : f->height;
	snprintf(i->pixels, sizeof(i->pixels), "%s", pixels ? pixels : "?");
}

/*
 * Return 1 after a message if the file is one picture.  Cameras append a
 * preview of another size to a photo.
 */
static int
video_is_picture(const struct video *v)
{
	if (strcmp(v->info.format, "mjpeg") != 0 || (v->have_later &&
	    v->later->width == v->prefetch->width &&
	    v->later->height == v->prefetch->height))
		return 0;
	fail("%s: not a video file but a JPEG picture (raw MJPEG has at least "
	    "two of one size); vt-pack --foreign packs pictures", Q(v->path));
	return 1;
}

/*
 * FFmpeg's limit on a single allocation is one of the process: let it be that
 * of the video with the largest frames.
 */
static void
video_limit_allocations(int64_t pixels)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static int64_t largest;

	pthread_mutex_lock(&lock);
	if (pixels > largest) {
		largest = pixels;
		ff.av_max_alloc((size_t)pixels * 8 + (256 << 20));
	}
	pthread_mutex_unlock(&lock);
}

struct video *
video_open(int fd, const char *path, const struct video_limits *limits)
{
	struct video *v;
	struct stat s;
	int r;

	if (video_ready() != 0)
		return NULL;
	v = xcalloc(1, sizeof(*v));
	video_limit_allocations(limits->pixels);
	v->path = xstrdup(path);
	v->limits = *limits;
	v->log.stream = -1;
	ff_listen(&v->log);
	if (fstat(fd, &s) != 0) {
		fail_errno("%s: cannot read", Q(path));
		goto err;
	}
	if (!S_ISREG(s.st_mode) || s.st_size == 0) {
		fail("%s: %s (wanted a video file)", Q(path),
		    S_ISDIR(s.st_mode) ? "is a directory" :
		    S_ISREG(s.st_mode) ? "is empty" : "is not a regular file");
		goto err;
	}
	v->packet = ff.av_packet_alloc();
	v->next = ff.av_packet_alloc();
	v->now = ff.av_frame_alloc();
	v->prefetch = ff.av_frame_alloc();
	v->later = ff.av_frame_alloc();
	if (v->packet == NULL || v->next == NULL || v->now == NULL ||
	    v->prefetch == NULL || v->later == NULL ||
	    source_open(&v->source, fd, s.st_size) != 0) {
		fail("%s: out of memory", Q(path));
		goto err;
	}
	if (video_open_container(v) != 0 || video_choose_stream(v) != 0 ||
	    video_open_decoder(v) != 0)
		goto err;
	video_read_info(v);
	if ((r = video_look_ahead(v)) < 0 || video_is_picture(v))
		goto err;
	if (r == 0) {
		const char *why = video_reason(v);

		fail("%s: no frame could be decoded%s%s", Q(path),
		    why[0] != '\0' ? ": " : "", why);
		goto err;
	}
	video_read_first(v);
	ff_listen(NULL);
	return v;
err:
	ff_listen(NULL);
	video_free(v);
	return NULL;
}
