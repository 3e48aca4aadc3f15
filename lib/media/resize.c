/* Crop, resize and mirror in one pass. */
#include <stdlib.h>

#include "base/mem.h"
#include "media/image.h"
#include "media/resize.h"

struct resizer {
	int w, h;			/* there is room for */
	struct resize_tap *x, *y;	/* [w], [h] */
	int16_t *line;
	void *quads;
};

struct resizer *
resizer_new(void)
{
	return xcalloc(1, sizeof(struct resizer));
}

void
resizer_free(struct resizer *z)
{
	if (z == NULL)
		return;
	free(z->x);
	free(z->y);
	free(z->line);
	free(z->quads);
	free(z);
}

void
resizer_reserve(struct resizer *z, int w, int h)
{
	if (w > z->w) {
		z->w = w;
		z->x = xrealloc(z->x, (size_t)w, sizeof(*z->x));
		z->line = xrealloc(z->line, 2 * (3 * (size_t)w + RESIZE_SLACK),
		    sizeof(*z->line));
		z->quads = xrealloc(z->quads, (size_t)w / 4 + 1, RESIZE_QUAD);
	}
	if (h > z->h) {
		z->h = h;
		z->y = xrealloc(z->y, (size_t)h, sizeof(*z->y));
	}
}

/*
 * Plan an axis into ${t}: ${n} output places over [start, start + length) of an input of
 * ${total}, with weights that add up to ${one}.  A coordinate is snapped to
 * 2^-20 first, so that it has the same weights wherever the input was cut: the
 * last bits of a double depend on how far it is from 0.
 */
static void
plan(struct resize_tap *t, int n, double start, double length, int total,
    int one)
{
	int last = total > 1 ? total - 2 : 0;	/* that has a neighbour */

	for (int i = 0; i < n; i++) {
		double x = start + (i + 0.5) * length / n - 0.5;
		int64_t fixed;

		x = x < 0 ? 0 : x > total - 1 ? total - 1 : x;
		fixed = (int64_t)(x * (1 << 20) + 0.5);
		t[i].at = fixed >> 20 < last ? (int)(fixed >> 20) : last;
		fixed -= (int64_t)t[i].at << 20;
		t[i].w[1] = (int)((fixed * one + (1 << 19)) >> 20);
		t[i].w[0] = one - t[i].w[1];
	}
}

void
resize_by(void (*run)(const struct resize_job *job), struct resizer *z,
    uint8_t *to, int to_w, int to_h, const uint8_t *from, int from_w,
    int from_h, struct region r, int flip)
{
	resizer_reserve(z, to_w, to_h);
	plan(z->x, to_w, r.x, r.w, from_w, RESIZE_ACROSS);
	plan(z->y, to_h, r.y, r.h, from_h, RESIZE_DOWN);
	for (int i = 0, k = to_w - 1; flip && i < k; i++, k--) {
		struct resize_tap t = z->x[i];

		z->x[i] = z->x[k];
		z->x[k] = t;
	}
	run(&(struct resize_job){ .to = to, .to_w = to_w, .to_h = to_h,
		.from = from, .from_w = from_w, .from_h = from_h, .x = z->x,
		.y = z->y, .line = z->line, .quads = z->quads });
}

void
image_resize(struct resizer *z, uint8_t *to, int to_w, int to_h,
    const uint8_t *from, int from_w, int from_h, struct region r, int flip)
{
	resize_by(ISA_PICK(resize_run), z, to, to_w, to_h, from, from_w, from_h,
	    r, flip);
}
