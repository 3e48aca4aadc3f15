/* Crop, resize and mirror in one pass: bilinear, and the choice of the rule. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "media/image.h"
#include "media/resize.h"

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
	antialias_free(z);
	free(z);
}

static void
reserve(struct resizer *z, int w, int h)
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

void
resizer_reserve(struct resizer *z, int w, int h, int from_w, int from_h)
{
	reserve(z, w, h);
	antialias_reserve(z, w, h, from_w, from_h);
}

void
resize_inside(int how, double start, double length, int total, int *first,
    int *end)
{
	double a = ceil(start - 0.5), b = floor(start + length + 0.5);

	*first = 0;
	*end = total;
	if (!(how & RESIZE_CUT))
		return;
	*first = a < 0 ? 0 : a < total ? (int)a : total - 1;
	*end = b > total ? total : b > *first ? (int)b : *first + 1;
}

/*
 * Plan an axis into ${t}: ${n} output places over [start, start + length) of
 * the pixels ${first} to ${end} - 1, of ${total}, with weights that add up to
 * ${one}.  A coordinate is snapped to 2^-20 first, so that it has the same
 * weights wherever the input was cut: the last bits of a double depend on how
 * far it is from 0.
 */
static void
plan(struct resize_tap *t, int n, double start, double length, int first,
    int end, int total, int one)
{
	int last = total > 1 ? total - 2 : 0;	/* that has a neighbour */

	for (int i = 0; i < n; i++) {
		double x = start + (i + 0.5) * length / n - 0.5;
		int64_t fixed;

		x = x < first ? first : x > end - 1 ? end - 1 : x;
		fixed = (int64_t)(x * (1 << 20) + 0.5);
		t[i].at = fixed >> 20 < last ? (int)(fixed >> 20) : last;
		fixed -= (int64_t)t[i].at << 20;
		t[i].w[1] = (int)((fixed * one + (1 << 19)) >> 20);
		t[i].w[0] = one - t[i].w[1];
	}
}

void
resize_by(void (*run)(const struct resize_job *job), struct resizer *z,
    const struct resize_call *c)
{
	int first, end;

	reserve(z, c->to_w, c->to_h);
	resize_inside(c->how, c->r.x, c->r.w, c->from_w, &first, &end);
	plan(z->x, c->to_w, c->r.x, c->r.w, first, end, c->from_w,
	    RESIZE_ACROSS);
	resize_inside(c->how, c->r.y, c->r.h, c->from_h, &first, &end);
	plan(z->y, c->to_h, c->r.y, c->r.h, first, end, c->from_h,
	    RESIZE_DOWN);
	for (int i = 0, k = c->to_w - 1; c->flip && i < k; i++, k--) {
		struct resize_tap t = z->x[i];

		z->x[i] = z->x[k];
		z->x[k] = t;
	}
	run(&(struct resize_job){ .to = c->to, .to_w = c->to_w,
		.to_h = c->to_h, .from = c->from, .from_w = c->from_w,
		.from_h = c->from_h, .x = z->x, .y = z->y, .line = z->line,
		.quads = z->quads });
}

void
image_resize(struct resizer *z, int how, uint8_t *to, int to_w, int to_h,
    const uint8_t *from, int from_w, int from_h, struct region r, int flip)
{
	const struct resize_call c = { how, to, to_w, to_h, from, from_w,
		from_h, r, flip };

	if (how & RESIZE_ANTIALIAS)
		antialias_by(ISA_PICK(antialias_run), z, &c);
	else
		resize_by(ISA_PICK(resize_run), z, &c);
}
