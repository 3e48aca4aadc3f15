/*
 * Convert pictures that do not come from a video, with the code for video
 * frames.
 */
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "media/ffmpeg/ff.h"

struct picture {
	struct ff_frame frame;
	AVFrame *from;			/* a view of the caller's pixels */
};

struct picture *
picture_new(void)
{
	struct picture *p;

	if (video_ready() != 0)
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->from = ff.av_frame_alloc();
	if (p->from == NULL)
		die(EXIT_FAILED, "out of memory");
	return p;
}

void
picture_free(struct picture *p)
{
	if (p == NULL)
		return;
	ff.av_frame_free(&p->from);
	frame_free(&p->frame);
	free(p);
}

static const AVFrame *
picture_as_frame(struct picture *p, const struct image *m)
{
	p->from->data[0] = m->data;
	p->from->linesize[0] = 3 * m->w;
	p->from->width = m->w;
	p->from->height = m->h;
	p->from->format = AV_PIX_FMT_RGB24;
	return p->from;
}

const struct planes *
picture_planes(struct picture *p, const char *path, const struct image *m,
    int w, int h)
{
	return frame_planes(&p->frame, path, picture_as_frame(p, m),
	    (struct plane_turn){ 0 }, w, h);
}

const struct image *
picture_rgb(struct picture *p, const char *path, const struct image *m, int w,
    int h)
{
	return frame_rgb(&p->frame, path, picture_as_frame(p, m),
	    (struct plane_turn){ 0 }, w, h);
}
