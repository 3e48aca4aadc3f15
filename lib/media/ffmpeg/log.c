/* Collect FFmpeg's messages for the thread that causes them, and print none. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "media/ffmpeg/ff.h"

/* this thread's destination; NULL: drop messages */
static _Thread_local struct ff_log *listener;

const char *
ff_text(int code)
{
	static _Thread_local char text[AV_ERROR_MAX_STRING_SIZE];

	ff.av_strerror(code, text, sizeof(text));
	return text;
}

/*
 * Return 1 for messages that concern no frame of our stream: those of codecs
 * other than our decoder, which are parsers and the decoders of covers and of
 * other streams; and, of the demuxer, those that name another stream, and all
 * of the headers.  What matters in the headers shows in the packets and in the
 * container's structure.
 */
static int
ff_log_is_foreign(const struct ff_log *l, void *context, const char *text)
{
	const AVClass *class = context != NULL ? *(AVClass **)context : NULL;
	int stream;

	if (class == ff.avcodec_get_class())
		return context != l->decoder;
	return class == ff.avformat_get_class() && (l->in_headers ||
	    (sscanf(text, "stream %d,", &stream) == 1 && stream != l->stream));
}

/*
 * Messages of FFmpeg about valid files:
 *
 * - H.261: all pictures are of one type, which may be intra or inter coded.
 *   FFmpeg complains about the first picture of each stream.
 * - MXF: FFmpeg writes an index with one entry too few for a stream-copied cut,
 *   and complains when it reads that file.
 * - Chained Ogg files whose parts have different streams: it complains about
 *   audio that appears or disappears.
 * - Stream-copied cuts that begin before 0: it complains about the times that
 *   it leaves unset.
 * - H.264 and JPEG: metadata beside the picture.
 */
static int
ff_log_is_harmless(void *context, const char *fmt)
{
	static const char *const harmless[] = {
		("index entry %i + TemporalOffset %i = %i, which is out of "
		    "bounds"),
		"failed to create or replace stream",
		"invalid pts ",
		"New streams are not supposed to be added",
		"SEI type %d",
		"unable to decode APP fields",
		"mjpeg: invalid TIFF header in EXIF data",
		"mjpeg: error decoding EXIF data",
		"mjpeg: error, decode_app parser read over the end",
	};
	const AVCodecContext *c = context;

	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (text_starts(fmt, harmless[i]))
			return 1;
	return context != NULL &&
	    *(AVClass **)context == ff.avcodec_get_class() &&
	    c->codec_id == AV_CODEC_ID_H261 &&
	    strcmp(fmt, "warning: first frame is no keyframe\n") == 0;
}

void
ff_log_callback(void *context, int level, const char *fmt, va_list ap)
{
	struct ff_log *l = listener;
	char text[sizeof(l->first)];

	if (l == NULL || level > AV_LOG_ERROR || ff_log_is_harmless(context,
	    fmt) || (l->open_group && text_starts(fmt, "mmco: unref short "
	    "failure")))
		return;
	vsnprintf(text, sizeof(text), fmt, ap);
	text[strcspn(text, "\n")] = '\0';
	if (ff_log_is_foreign(l, context, text)) {
		if (l->reason[0] == '\0')
			memcpy(l->reason, text, sizeof(text));
	} else if (l->errors++ == 0) {
		memcpy(l->first, text, sizeof(text));
	}
}

void
ff_listen(struct ff_log *l)
{
	listener = l;
}
