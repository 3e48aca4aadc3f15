/* Load FFmpeg at its first use. */
#include <pthread.h>

#include "base/fail.h"
#include "base/library.h"
#include "media/ffmpeg/ff.h"

#define TEXT_OF(x)	#x
#define TEXT(x)		TEXT_OF(x)
#define FORMAT_FILE	"libavformat.so." TEXT(LIBAVFORMAT_VERSION_MAJOR)
#define SCALE_FILE	"libswscale.so." TEXT(LIBSWSCALE_VERSION_MAJOR)

struct ff_calls ff;
static struct error ff_missing;		/* "" once ${ff} is set */

static void
ffmpeg_load(void)
{
#define CALL(name)	{ #name, &ff.name },
	const struct library_entry format[] = { FF_FORMAT_CALLS(CALL) },
	    scale[] = { FF_SCALE_CALLS(CALL) };
#undef CALL

	if (library_open(FORMAT_FILE, "reading videos", format,
	    sizeof(format) / sizeof(format[0]), &ff_missing) == NULL ||
	    library_open(SCALE_FILE, "reading videos", scale,
	    sizeof(scale) / sizeof(scale[0]), &ff_missing) == NULL)
		error_set(&ff_missing, "install this version of FFmpeg, or "
		    "build vt again with the installed one");
	else
		ff.av_log_set_callback(ff_log_callback);
}

static int
ffmpeg_loaded(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, ffmpeg_load);
	return ff_missing.text[0] == '\0';
}

int
video_ready(void)
{
	return ffmpeg_loaded() ? 0 : fail("%s", ff_missing.text);
}

void
video_versions(FILE *f)
{
	static const struct { const char *name; unsigned (**version)(void); }
	library[] = {
		{ "libavformat", &ff.avformat_version },
		{ "libavcodec", &ff.avcodec_version },
		{ "libavutil", &ff.avutil_version },
		{ "libswscale", &ff.swscale_version },
	};

	for (size_t i = 0; ffmpeg_loaded() && i < sizeof(library) /
	    sizeof(library[0]); i++) {
		unsigned v = (*library[i].version)();

		fprintf(f, "%s %u.%u.%u\n", library[i].name, v >> 16,
		    v >> 8 & 0xff, v & 0xff);
	}
}
