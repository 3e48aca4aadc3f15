/* Check that stored frames decode, with one decoder per thread. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "clip/fill.h"
#include "clip/frame_check.h"

struct frame_check { struct frame_decoder *decoder; int threads; };

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
	for (int i = 0; i < c->threads; i++)
		frame_decoder_free(&c->decoder[i]);
	free(c->decoder);
	free(c);
}

int
frame_check(struct frame_check *c, int thread, const char *ext,
    const void *data, size_t n, int w, int h, struct error *why)
{
	struct frame_level l = { .w = w, .h = h,
		.png = strcmp(ext, "png") == 0 };
	struct image m;
	struct region at;

	return frame_decoder_run(&c->decoder[thread], data, n, &l, &m, &at,
	    why);
}
