/* Check that stored frames decode, with one decoder per thread. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "clip/frame_check.h"
#include "media/jpeg.h"
#include "media/png.h"

/* The decoders of one thread; ${jpeg} is NULL until it is needed. */
struct frame_check_decoder { struct jpeg_decoder *jpeg; struct image png; };

struct frame_check { struct frame_check_decoder *decoder; int threads; };

struct frame_check *
frame_check_new(int threads)
{
	struct frame_check *c = xcalloc(1, sizeof(*c));

	c->threads = threads;
	c->decoder = xcalloc((size_t)threads, sizeof(*c->decoder));
	return c;
}

void
frame_check_free(struct frame_check *c)
{
	if (c == NULL)
		return;
	for (int i = 0; i < c->threads; i++) {
		jpeg_decoder_free(c->decoder[i].jpeg);
		free(c->decoder[i].png.data);
	}
	free(c->decoder);
	free(c);
}

static int
frame_check_same_size(int w, int h, int want_w, int want_h, struct error *why)
{
	if (want_w != 0 && (w != want_w || h != want_h))
		return error_set(why, "%dx%d pixels (the index says %dx%d)", w,
		    h, want_w, want_h);
	return 0;
}

int
frame_check(struct frame_check *c, int thread, const char *ext,
    const void *data, size_t n, int w, int h, struct error *why)
{
	struct frame_check_decoder *d = &c->decoder[thread];
	struct image jpeg;
	struct region unused;
	int real_w, real_h;

	if (strcmp(ext, "png") == 0) {
		if (png_decode_to(&d->png, data, n, why) != 0)
			return -1;
		return frame_check_same_size(d->png.w, d->png.h, w, h, why);
	}
	if (d->jpeg == NULL)
		d->jpeg = jpeg_decoder_new();
	if (jpeg_size(d->jpeg, data, n, &real_w, &real_h, why) != 0 ||
	    frame_check_same_size(real_w, real_h, w, h, why) != 0)
		return -1;
	return jpeg_decode(d->jpeg, NULL, 0, (struct region){ 0, 0,
	    real_w, real_h }, real_w, real_h, &jpeg, &unused, why);
}
