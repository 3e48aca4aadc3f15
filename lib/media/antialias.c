/* Antialiased resizing: the weights, as Pillow's BILINEAR has them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "media/resize.h"

/*
 * The most taps of a place: the triangle is twice the scale wide, and at least
 * 2; it may lie across one pixel more, and one makes them even.
 */
static int
most_taps(double scale)
{
	return 2 * (int)ceil(scale > 1 ? scale : 1) + 2;
}

static void
axis_reserve(struct resize_axis *a, size_t places, size_t taps)
{
	if (places > a->places) {
		a->places = places;
		a->at = xrealloc(a->at, places, sizeof(*a->at));
		a->count = xrealloc(a->count, places, sizeof(*a->count));
	}
	if (taps > a->taps) {
		a->taps = taps;
		a->k = xrealloc(a->k, taps, sizeof(*a->k));
	}
}

static void
reserve(struct resizer *z, size_t ring, size_t packs)
{
	if (ring > z->ring_words) {
		z->ring_words = ring;
		z->ring = xrealloc(z->ring, ring, sizeof(*z->ring));
	}
	if (packs > z->packs) {
		z->packs = packs;
		z->pack = xrealloc(z->pack, packs, ANTIALIAS_PACK);
	}
}

/*
 * At n places of an axis of m pixels a place has 2 m / n + 6 taps at most, so
 * all have 2 m + 6 n, which grows with n.
 */
void
antialias_reserve(struct resizer *z, int w, int h, int from_w, int from_h)
{
	size_t across = 2 * (size_t)from_w + 6 * (size_t)w;
	size_t down = 2 * (size_t)from_h + 6 * (size_t)h;
	size_t width = (size_t)(w > h ? w : h);

	axis_reserve(&z->across, (size_t)w, across);
	axis_reserve(&z->down, (size_t)h, down);
	/* Lines are as wide as the result, which is as high here or less. */
	reserve(z, (2 * (size_t)from_h + 6 * width) * (3 + RESIZE_SLACK),
	    across / 4 + 1);
}

void
antialias_free(struct resizer *z)
{
	free(z->across.at);
	free(z->across.count);
	free(z->across.k);
	free(z->down.at);
	free(z->down.count);
	free(z->down.k);
	free(z->ring);
	free(z->pack);
}

/*
 * The taps of the place whose centre is ${centre}, in pixels from ${base} on;
 * the triangle reaches ${reach} to both sides.  Doubles in the order in which
 * Pillow's Resample.c, precompute_coeffs, has them, so that rounding is its,
 * too.
 */
static int
taps(int32_t *k, int *at, double centre, double reach, int base, int first,
    int end)
{
	int low = (int)floor(centre - reach + 0.5) + base;
	int high = (int)floor(centre + reach + 0.5) + base, n;
	double sum = 0, shrink = 1 / reach;

	low = low < first ? first : low > end - 1 ? end - 1 : low;
	high = high > end ? end : high <= low ? low + 1 : high;
	n = high - low;
	for (int pass = 0; pass < 2; pass++)
		for (int j = 0; j < n; j++) {
			double x = fabs((j + (low - base) - centre + 0.5) *
			    shrink), w = x < 1 ? 1 - x : 0;

			if (pass == 0)
				sum += w;
			else
				k[j] = (int32_t)(0.5 + (sum > 0 ? w / sum :
				    1.0 / n) * (1 << ANTIALIAS_BITS));
		}
	while (n > 1 && k[n - 1] == 0)
		n--;
	*at = low;
	return n;
}

/*
 * Plan ${n} places over [start, start + length).  Coordinates count from the
 * whole pixel that the region begins in, so that they have the same bits
 * wherever the input was cut.
 */
static void
plan(struct resize_axis *a, int n, double start, double length, int first,
    int end, int flip)
{
	double scale = length / n, reach = scale > 1 ? scale : 1;
	int base = (int)floor(start), most = 0;

	a->n = n;
	a->most = most_taps(scale);
	axis_reserve(a, (size_t)n, (size_t)n * (size_t)a->most);
	memset(a->k, 0, (size_t)n * (size_t)a->most * sizeof(*a->k));
	for (int i = 0; i < n; i++) {
		int p = flip ? n - 1 - i : i;

		a->count[p] = taps(a->k + (size_t)p * (size_t)a->most,
		    &a->at[p], (start - base) + (i + 0.5) * scale, reach, base,
		    first, end);
		most = a->count[p] > most ? a->count[p] : most;
	}
	a->pairs = (most + 1) / 2;
}

void
antialias_by(void (*run)(const struct antialias_job *job), struct resizer *z,
    const struct resize_call *c)
{
	struct resize_axis *x = &z->across, *y = &z->down;
	int first, end;

	resize_inside(c->how, c->r.x, c->r.w, c->from_w, &first, &end);
	plan(x, c->to_w, c->r.x, c->r.w, first, end, c->flip);
	resize_inside(c->how, c->r.y, c->r.h, c->from_h, &first, &end);
	plan(y, c->to_h, c->r.y, c->r.h, first, end, 0);
	reserve(z, (size_t)y->most * (3 * (size_t)x->n + RESIZE_SLACK),
	    (size_t)x->n * (size_t)x->pairs / 2);
	run(&(struct antialias_job){ .to = c->to, .from = c->from,
		.from_w = c->from_w, .x = x, .y = y, .line = z->ring,
		.pack = z->pack });
}
