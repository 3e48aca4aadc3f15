/*
 * A decoder that fails in the fourth frame of a video, to test the limits of
 * vt-extract --budget.  tests/build.mk links the command with --wrap for the
 * calls below.  The name of the video selects the failure: crash, loop, sleep,
 * grow or reserve.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "media/video.h"

struct video *__real_video_open(int fd, const char *path,
    const struct video_limits *limits);
struct video *__wrap_video_open(int fd, const char *path,
    const struct video_limits *limits);
int __real_video_next(struct video *v, struct video_frame *frame);
int __wrap_video_next(struct video *v, struct video_frame *frame);

static _Thread_local const char *name;
static _Thread_local int frames;

struct video *
__wrap_video_open(int fd, const char *path, const struct video_limits *limits)
{
	const char *slash = strrchr(path, '/');

	name = slash != NULL ? slash + 1 : path;
	frames = 0;
	return __real_video_open(fd, path, limits);
}

static int
hang_is(const char *failure)
{
	return strncmp(name, failure, strlen(failure)) == 0;
}

int
__wrap_video_next(struct video *v, struct video_frame *frame)
{
	volatile int on = 1;

	if (++frames == 4) {
		if (hang_is("crash"))
			raise(SIGSEGV);
		while (hang_is("loop") && on)
			;
		while (hang_is("sleep"))
			pause();
		while (hang_is("grow"))
			memset(xmalloc(1 << 20), 1, 1 << 20);
		if (hang_is("reserve"))
			free(xmalloc((size_t)1 << 40));
	}
	return __real_video_next(v, frame);
}
