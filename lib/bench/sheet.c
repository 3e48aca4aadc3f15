/* Draw the first clips of a loader as a contact sheet. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "bench/cases.h"
#include "draw/plot.h"

enum { CLIPS = 24, STRIP = 3, GAP = 4, MAX = 160 };	/* frames per clip;
							 * pixels */

/*
 * Return frame ${k} of a clip as RGB.  Of a stack, take the first three
 * channels, or two and one of them again.  The caller frees it.
 */
static uint8_t *
bench_sheet_frame(const struct stream *s, const uint8_t *clip, size_t k)
{
	size_t pixels = (size_t)s->w * (size_t)s->h, c = (size_t)s->c;
	uint8_t *to = xmalloc(3 * pixels);

	clip += k * pixels * c;
	for (size_t i = 0; i < 3 * pixels; i++)
		to[i] = clip[i / 3 * c + (i % 3 < c ? i % 3 : c - 1)];
	return to;
}

/*
 * Return the first, middle and last frame of a clip side by side, each at most
 * SIDE_MAX pixels wide.  The caller frees the image.
 */
static struct image *
bench_sheet_strip(struct resizer *z, const struct stream *s,
    const uint8_t *clip)
{
	int side = s->w < MAX ? s->w : MAX;
	struct image *all = image_new(STRIP * (side + GAP) - GAP, side, 3);
	uint8_t *one = xmalloc(3 * (size_t)side * (size_t)side);
	size_t row = 3 * (size_t)side;

	memset(all->data, 255, 3 * (size_t)all->w * (size_t)all->h);
	for (int k = 0; k < STRIP; k++) {
		uint8_t *frame = bench_sheet_frame(s, clip,
		    (size_t)(k * (s->t - 1) / (STRIP - 1)));

		image_resize(z, &(struct resize_call){ RESIZE_ANTIALIAS, one,
		    side, side, frame, s->w, s->h, { 0, 0, s->w, s->h }, 0 });
		free(frame);
		for (int y = 0; y < side; y++)
			memcpy(all->data + 3 * ((size_t)y * (size_t)all->w +
			    (size_t)(k * (side + GAP))), one + (size_t)y * row,
			    row);
	}
	free(one);
	return all;
}

/*
 * Return the class of clip ${i}, or for a mixed clip "0.73 a + 0.27 b".  The
 * caller frees it.
 */
static char *
bench_sheet_caption(const struct dataset *d, const struct target *t, int i)
{
	struct buffer b = { 0 };

	buffer_add(&b, "", 0);
	for (int c = 0; c < t->classes; c++) {
		double share = target_soft_label(t, i, c);

		if (share == 1)
			buffer_printf(&b, "%s%s", b.n > 0 ? " + " : "",
			    dataset_class(d, c));
		else if (share > 0)
			buffer_printf(&b, "%s%.2f %s", b.n > 0 ? " + " : "",
			    share, dataset_class(d, c));
	}
	return b.data;
}

static int
bench_sheet_take_clips(const struct dataset *d, struct loader *l,
    struct plot_clip *clip)
{
	struct resizer *z = resizer_new();
	struct microbatch *mb;
	int n = 0, got = 1, bad = 0;

	while (n < CLIPS && bad == 0 && (got = loader_next(l, &mb)) == 1) {
		const struct stream *s = mb->stream;
		size_t bytes = (size_t)s->t * (size_t)s->c * (size_t)s->w *
		    (size_t)s->h;

		for (int i = 0; i < mb->n && n < CLIPS && bad == 0; i++, n++) {
			char *path;

			bad = dataset_source(d, mb->sample[i], &path);
			clip[n] = (struct plot_clip){
				.m = bench_sheet_strip(z, s,
				    s->bytes + (size_t)i * bytes),
				.caption = bench_sheet_caption(d, mb->target,
				i),
				.path = path };
		}
		loader_return(l, mb);
	}
	resizer_free(z);
	return bad != 0 ? bad : got < 0 ? got : n;
}

int
bench_sheet(const struct dataset *d, const struct schedule *s,
    const struct loader_options *o, const char *path)
{
	struct plot_clip clip[CLIPS] = { { 0 } };
	struct plot_sheet sheet = { .title = "Clips for training",
		.note = "the first that the loader gives: the first, the "
		"middle "
		"and the last frame of each", .clip = clip };
	struct loader *l;
	int n, bad;

	l = loader_new(d, s, 0, o);
	n = bench_sheet_take_clips(d, l, clip);
	loader_free(l);
	sheet.n = n;
	sheet.columns = n > 0 ? (int)ceil(sqrt(n)) : 1;
	bad = n < 0 ? n : plot_sheet(&sheet, path);
	for (int i = 0; i < CLIPS; i++) {
		image_free((struct image *)clip[i].m);
		free((char *)clip[i].caption);
		free((char *)clip[i].path);
	}
	return exit_of(bad);
}
