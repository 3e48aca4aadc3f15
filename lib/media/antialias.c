/* Plan antialiased resizing: the weights of Pillow's BILINEAR. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "media/resize.h"

/* Words per line and at the end, for vectors that end beyond a line of either
 * kind, and for alignment. */
#define ANTIALIAS_SLACK 64

/*
 * Return the maximum number of taps of a position.  The triangle is 2
 * max(scale, 1) wide and may touch one more pixel; one more makes the number
 * even.
 */
static int
antialias_max_taps(double scale)
{
	return 2 * (int)ceil(scale > 1 ? scale : 1) + 2;
}

static void
antialias_axis_reserve(struct resize_axis *a, size_t positions, size_t taps)
{
	if (positions > a->positions) {
		a->positions = positions;
		a->at = xrealloc(a->at, positions, sizeof(*a->at));
		a->count = xrealloc(a->count, positions, sizeof(*a->count));
	}
	if (taps > a->taps) {
		a->taps = taps;
		a->k = xrealloc(a->k, taps, sizeof(*a->k));
	}
}

static void
antialias_reserve_lines(struct antialias *a, size_t words, size_t packs)
{
	if (words > a->words) {
		a->words = words;
		a->line = xrealloc(a->line, words, sizeof(*a->line));
	}
	if (packs > a->packs) {
		a->packs = packs;
		a->pack = xrealloc(a->pack, packs, sizeof(*a->pack));
	}
}

/*
 * For n positions on an axis of m pixels, antialias_max_taps is at most 2 m / n
 * + 6.  All positions together have at most 2 m + 6 n taps, which grows with n.
 */
void
antialias_reserve(struct antialias *a, int w, int h, int from_w, int from_h)
{
	size_t across = 2 * (size_t)from_w + 6 * (size_t)w;
	size_t down = 2 * (size_t)from_h + 6 * (size_t)h;
	size_t width = (size_t)(w > h ? w : h);

	antialias_axis_reserve(&a->x, (size_t)w, across);
	antialias_axis_reserve(&a->y, (size_t)h, down);
	/*
	 * For a result of at most n x n, taps * (3 n + slack) is at most (2 m +
	 * 6 n) (3 + slack).  For other shapes antialias_by may allocate more.
	 */
	antialias_reserve_lines(a, (2 * (size_t)from_h + 6 * width) *
	    (3 + ANTIALIAS_SLACK) + ANTIALIAS_SLACK, across / 4 + 1);
	antialias_reserve_vbmi(a, w, h);
}

static void
antialias_axis_free(struct resize_axis *a)
{
	free(a->at);
	free(a->count);
	free(a->k);
}

void
antialias_free(struct antialias *a)
{
	antialias_axis_free(&a->x);
	antialias_axis_free(&a->y);
	free(a->pack);
	free(a->line);
	free(a->blocks);
	free(a->mix);
}

/*
 * Set ${k} to the weights of the position whose center is ${center}, relative
 * to pixel ${base}, and ${*at} to its first pixel.  Return the number of taps.
 *
 *	w(x) = max(0, 1 - |x| / reach)
 *	k[j] = round(2^22 w(at + j + 0.5 - base - center) / sum of all w)
 *
 * Doubles are combined in the order of Pillow's Resample.c, precompute_coeffs,
 * so that the rounding is the same.
 */
static int
antialias_taps(int32_t *k, int *at, double center, double reach, int base,
    int first, int end)
{
	int low = (int)floor(center - reach + 0.5) + base;
	int high = (int)floor(center + reach + 0.5) + base, n;
	double sum = 0, shrink = 1 / reach;

	low = low < first ? first : low > end - 1 ? end - 1 : low;
	high = high > end ? end : high <= low ? low + 1 : high;
	n = high - low;
	for (int pass = 0; pass < 2; pass++)
		for (int j = 0; j < n; j++) {
			double x = fabs((j + (low - base) - center + 0.5) *
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
 * Coordinates are relative to the integer pixel in which the region begins.  So
 * each decoded part of the input gives the same bits.
 */
static void
antialias_plan_axis(struct resize_axis *a, const struct resize_span *s)
{
	double scale = s->length / s->n, reach = scale > 1 ? scale : 1;
	int base = (int)floor(s->start), largest = 0;
	size_t n = (size_t)s->n;

	a->n = s->n;
	a->max_taps = antialias_max_taps(scale);
	antialias_axis_reserve(a, n, n * (size_t)a->max_taps);
	memset(a->k, 0, n * (size_t)a->max_taps * sizeof(*a->k));
	for (int i = 0; i < s->n; i++) {
		int p = s->flip ? s->n - 1 - i : i;

		a->count[p] =
		    antialias_taps(a->k + (size_t)p * (size_t)a->max_taps,
		    &a->at[p], (s->start - base) + (i + 0.5) * scale, reach,
		    base, s->first, s->end);
		largest = a->count[p] > largest ? a->count[p] : largest;
	}
	a->pairs = (largest + 1) / 2;
	a->copies = s->flip ? -1 : 1;
	for (int i = 0; i < s->n; i++)
		if (a->count[i] != 1 || a->at[i] != a->at[0] + i * a->copies)
			a->copies = 0;
}

static void
antialias_pack_set(struct antialias_pack *p, const int32_t *k0,
    const int32_t *k2)
{
	for (int w = 0; w < 16; w++) {
		int32_t v = w % 8 < 6 ? (w < 8 ? k0 : k2)[w % 2] : 0;

		p->hi[w] = (int16_t)(v >> ANTIALIAS_LOW);
		p->lo[w] = (int16_t)(v & ((1 << ANTIALIAS_LOW) - 1));
	}
}

/*
 * Find the positions whose pairs can be loaded as 16 bytes without reading
 * beyond the row, and lay out their weights.  All positions qualify except a
 * few at the right, or at the left of a mirrored result.
 */
static void
antialias_plan_packs(struct antialias *a, int from_w)
{
	const struct resize_axis *x = &a->x;
	int furthest = from_w < 6 ? -1 : from_w - 6 - 2 * (x->pairs - 1);
	struct antialias_pack *p;

	if (a->planned & ANTIALIAS_PACKS)
		return;
	a->planned |= ANTIALIAS_PACKS;
	for (a->low = 0; a->low < x->n && x->at[a->low] > furthest; )
		a->low++;
	for (a->high = x->n; a->high > a->low &&
	    x->at[a->high - 1] > furthest; )
		a->high--;
	a->high -= (a->high - a->low) % 4;
	antialias_reserve_lines(a, 0, (size_t)(a->high - a->low) / 2 *
	    (size_t)x->pairs);
	p = a->pack;
	for (int i = a->low; i < a->high; i += 4)
		for (int second = 0; second < 2; second++)
			for (int g = 0; g < x->pairs; g++) {
				const int32_t *k = x->k + (size_t)(i + second) *
				    (size_t)x->max_taps + 2 * g;

				antialias_pack_set(p++, k, k + 2 * x->max_taps);
			}
}

/* Plan both axes of the call ${c}, unless the last call had the same keys. */
static void
antialias_plan(struct antialias *a, const struct resize_call *c)
{
	struct resize_span across, down;

	resize_spans(c, &across, &down);
	if (!resize_planned(&a->x.of, &across)) {
		antialias_plan_axis(&a->x, &across);
		a->planned &= ANTIALIAS_MIXES;
	}
	if (!resize_planned(&a->y.of, &down)) {
		antialias_plan_axis(&a->y, &down);
		a->planned &= ~ANTIALIAS_MIXES;
	}
}

/* Return a power of two that is above the taps of each position. */
static int
antialias_ring(const struct resize_axis *y)
{
	int ring = 1;

	while (ring <= 2 * y->pairs)
		ring *= 2;
	return ring;
}

void
antialias_by(const struct resize_code *code, struct antialias *a,
    const struct resize_call *c)
{
	antialias_plan(a, c);
	if (code->vbmi && !antialias_plan_vbmi(a, c->from_w))
		code--;
	if (!code->vbmi)
		antialias_plan_packs(a, c->from_w);
	antialias_reserve_lines(a, (size_t)a->y.max_taps *
	    (3 * (size_t)a->x.n + ANTIALIAS_SLACK) + ANTIALIAS_SLACK, 0);
	code->antialias(&(struct antialias_job){ .to = c->to, .from = c->from,
		.from_w = c->from_w, .x = &a->x, .y = &a->y, .line = a->line,
		.pack = a->pack, .low = a->low, .high = a->high,
		.lines = (uint8_t *)round_up((uintptr_t)a->line, RESIZE_ALIGN),
		.ring = antialias_ring(&a->y), .block = a->block,
		.taps = a->taps, .blends = a->blends, .mix = a->mix });
}
