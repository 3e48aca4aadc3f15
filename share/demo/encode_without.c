/*
 * Replace encode.c in a build without FFmpeg: encoder_open() fails with a
 * message.
 */
#include <stddef.h>

#include "media/video.h"
#include "encode.h"

struct encoder *
encoder_open(const char *path, const struct encoder_options *o)
{
	(void)path, (void)o;
	video_ready();
	return NULL;
}

int
encoder_known(const char *codec)
{
	(void)codec;
	return 0;
}

/* These are never called, because encoder_open() returns no encoder. */

int
encoder_add(struct encoder *e, const struct image *m)
{
	(void)e, (void)m;
	return -1;
}

int
encoder_done(struct encoder *e)
{
	(void)e;
	return -1;
}

void
encoder_drop(struct encoder *e)
{
	(void)e;
}
