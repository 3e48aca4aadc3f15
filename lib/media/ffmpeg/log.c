/* Collect FFmpeg's messages for the thread that causes them, and print none. */
#include <pthread.h>
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

	return av_make_error_string(text, sizeof(text), code);
}

/* Return 1 for codecs that are not video: their data are not decoded. */
static int
ff_log_is_foreign(void *context)
{
	const AVCodecContext *c = context;

	return context != NULL && *(AVClass **)context == avcodec_get_class() &&
	    c->codec_type != AVMEDIA_TYPE_VIDEO &&
	    c->codec_type != AVMEDIA_TYPE_UNKNOWN;
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
 */
static int
ff_log_is_harmless(void *context, const char *fmt)
{
	const AVCodecContext *c = context;

	if (text_starts(fmt, "index entry %i + TemporalOffset %i = %i, which "
	    "is out of bounds") ||
	    text_starts(fmt, "failed to create or replace stream") ||
	    text_starts(fmt, "invalid pts ") ||
	    text_starts(fmt, "New streams are not supposed to be added"))
		return 1;
	return context != NULL && *(AVClass **)context == avcodec_get_class() &&
	    c->codec_id == AV_CODEC_ID_H261 &&
	    strcmp(fmt, "warning: first frame is no keyframe\n") == 0;
}

static void
ff_log_callback(void *context, int level, const char *fmt, va_list ap)
{
	struct ff_log *l = listener;

	if (l == NULL || level > AV_LOG_ERROR || ff_log_is_foreign(context) ||
	    ff_log_is_harmless(context, fmt) ||
	    (l->open_group && text_starts(fmt, "mmco: unref short failure")))
		return;
	if (l->errors++ > 0)
		return;
	vsnprintf(l->first, sizeof(l->first), fmt, ap);
	l->first[strcspn(l->first, "\n")] = '\0';
}

static void
ff_log_install(void)
{
	av_log_set_callback(ff_log_callback);
}

void
ff_listen(struct ff_log *l)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, ff_log_install);
	listener = l;
}
