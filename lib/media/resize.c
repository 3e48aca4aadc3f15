/*
 * Crop, resize and mirror in one pass: plan the bilinear filter, and dispatch
 * to either filter.
 */
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
	free(z->quad);
	antialias_free(&z->antialias);
	free(z);
}

static void
resize_reserve(struct resizer *z, int w, int h)
{
	if (w > z->w) {
		z->w = w;
		z->x = xrealloc(z->x, (size_t)w, sizeof(*z->x));
		z->line = xrealloc(z->line, 2 * (3 * (size_t)w + RESIZE_SLACK),
		    sizeof(*z->line));
		z->quad = xrealloc(z->quad, (size_t)w / 4 + 1,
		    sizeof(*z->quad));
	}
	if (h > z->h) {
		z->h = h;
		z->y = xrealloc(z->y, (size_t)h, sizeof(*z->y));
	}
}

void
resizer_reserve(struct resizer *z, int w, int h, int from_w, int from_h)
{
	resize_reserve(z, w, h);
	antialias_reserve(&z->antialias, w, h, from_w, from_h);
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

void
resize_spans(const struct resize_call *c, struct resize_span *across,
    struct resize_span *down)
{
	*across = (struct resize_span){ .start = c->r.x, .length = c->r.w,
		.n = c->to_w, .total = c->from_w, .flip = c->flip };
	*down = (struct resize_span){ .start = c->r.y, .length = c->r.h,
		.n = c->to_h, .total = c->from_h };
	resize_inside(c->how, c->r.x, c->r.w, c->from_w, &across->first,
	    &across->end);
	resize_inside(c->how, c->r.y, c->r.h, c->from_h, &down->first,
	    &down->end);
}

int
resize_planned(struct resize_span *was, const struct resize_span *of)
{
	int same = was->start == of->start && was->length == of->length &&
	    was->n == of->n && was->first == of->first &&
	    was->end == of->end && was->total == of->total &&
	    was->flip == of->flip;

	*was = *of;
	return same;
}

/*
 * Plan an axis into ${t}, with weights that sum to ${one}.  The last bits of a
 * double depend on its magnitude.  Round coordinates to 2^-20, so that each
 * crop of the input gives the same weights.
 */
static void
resize_plan_axis(struct resize_tap *t, const struct resize_span *s, int one)
{
	int last = s->total > 1 ? s->total - 2 : 0;	/* last pixel with a
							 * neighbor */

	for (int i = 0; i < s->n; i++) {
		double x = s->start + (i + 0.5) * s->length / s->n - 0.5;
		struct resize_tap *to = &t[s->flip ? s->n - 1 - i : i];
		int64_t fixed;

		x = x < s->first ? s->first : x > s->end - 1 ? s->end - 1 : x;
		fixed = (int64_t)(x * (1 << 20) + 0.5);
		to->at = fixed >> 20 < last ? (int)(fixed >> 20) : last;
		fixed -= (int64_t)to->at << 20;
		to->w[1] = (int)((fixed * one + (1 << 19)) >> 20);
		to->w[0] = one - to->w[1];
	}
}

/*
 * Plan groups of four positions.  Return their number, or 0 if two adjacent
 * positions lie too far apart for one load, which happens when shrinking beyond
 * 1/3.
 */
static int
resize_plan_quads(struct resize_quad *quad, const struct resize_tap *x, int n,
    int from_w)
{
	for (int i = 0; i < n / 4 * 4; i += 2) {
		const struct resize_tap *t = &x[i];
		struct resize_quad *q = &quad[i / 4];
		int half = i / 2 % 2;
		int low = 3 * (t[0].at < t[1].at ? t[0].at : t[1].at);

		if (low > 3 * from_w - 16)	/* do not load beyond the row */
			low = 3 * from_w - 16;
		q->at[half] = low;
		for (int k = 0; k < 16; k++) {
			/* Order: R, next R, G, next G, B, next B of one pixel,
			 * then of the other. */
			int byte = 3 * t[k / 6 % 2].at + 3 * (k % 2) +
			    k % 6 / 2 - low;

			if (low < 0 || byte > 15)
				return 0;
			q->pick[half][k] = (uint8_t)byte;
			q->w[half][k] = (uint8_t)t[k / 6 % 2].w[k % 2];
		}
	}
	return n / 4;
}

/* Plan both axes of the call ${c}, unless the last call had the same keys. */
static void
resize_plan(struct resizer *z, const struct resize_call *c)
{
	struct resize_span across, down;

	resize_reserve(z, c->to_w, c->to_h);
	resize_spans(c, &across, &down);
	if (!resize_planned(&z->across, &across)) {
		resize_plan_axis(z->x, &across, RESIZE_ACROSS);
		z->quads = resize_plan_quads(z->quad, z->x, c->to_w, c->from_w);
	}
	if (!resize_planned(&z->down, &down))
		resize_plan_axis(z->y, &down, RESIZE_DOWN);
}

const struct resize_code *
resize_codes(int *n)
{
	static const struct resize_code code[] = {
		{ "base", resize_run_base, antialias_run_base, 0 },
#if defined(__x86_64__)
		{ "avx2", resize_run_avx2, antialias_run_avx2, 0 },
		{ "avx512", resize_run_avx512, antialias_run_avx512, 0 },
		{ "vbmi", resize_run_avx512, antialias_run_vbmi, 1 },
#endif
	};

	*n = 1 + (int)isa_best() + isa_vbmi();
	return code;
}

void
resize_by(const struct resize_code *code, struct resizer *z,
    const struct resize_call *c)
{
	if (c->how & RESIZE_ANTIALIAS) {
		antialias_by(code, &z->antialias, c);
		return;
	}
	resize_plan(z, c);
	code->run(&(struct resize_job){ .to = c->to, .to_w = c->to_w,
		.to_h = c->to_h, .from = c->from, .from_w = c->from_w,
		.from_h = c->from_h, .x = z->x, .y = z->y, .line = z->line,
		.quad = z->quad, .quads = z->quads });
}

void
image_resize(struct resizer *z, const struct resize_call *c)
{
	int n;
	const struct resize_code *code = resize_codes(&n);

	resize_by(&code[n - 1], z, c);
}
