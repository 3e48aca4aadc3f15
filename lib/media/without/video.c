/*
 * The interface of media/video.h in a build without FFmpeg: every call that
 * opens a video fails with a message.
 */
#include "base/fail.h"
#include "media/video.h"

int
video_ready(void)
{
	return fail("this build has no FFmpeg, which decodes videos: install "
	    "libavformat-dev libavcodec-dev libavutil-dev libswscale-dev and "
	    "build again with make FFMPEG=yes");
}

void
video_versions(FILE *f)
{
	(void)f;
}

struct video *
video_open(int fd, const char *path, const struct video_limits *limits)
{
	(void)fd, (void)path, (void)limits;
	video_ready();
	return NULL;
}

void
video_free(struct video *v)
{
	(void)v;
}

/* The functions below are unreachable, because no struct video exists. */

const struct video_info *
video_info(const struct video *v)
{
	(void)v;
	return NULL;
}

const struct video_account *
video_account(const struct video *v)
{
	(void)v;
	return NULL;
}

int
video_next(struct video *v, struct video_frame *frame)
{
	(void)v, (void)frame;
	return -1;
}

const struct planes *
video_planes(struct video *v, int w, int h)
{
	(void)v, (void)w, (void)h;
	return NULL;
}

int
video_hash(struct video *v, uint64_t *bytes, uint64_t *hash)
{
	(void)v, (void)bytes, (void)hash;
	return -1;
}

const struct image *
video_rgb(struct video *v, int w, int h)
{
	(void)v, (void)w, (void)h;
	return NULL;
}

struct picture *
picture_new(void)
{
	return NULL;
}

void
picture_free(struct picture *p)
{
	(void)p;
}

const struct planes *
picture_planes(struct picture *p, const char *path, const struct image *m,
    int w, int h)
{
	(void)p, (void)path, (void)m, (void)w, (void)h;
	return NULL;
}

const struct image *
picture_rgb(struct picture *p, const char *path, const struct image *m, int w,
    int h)
{
	(void)p, (void)path, (void)m, (void)w, (void)h;
	return NULL;
}
