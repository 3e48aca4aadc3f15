/* Crop, resize and mirror in one pass. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "media/image.h"
#include "media/resize.h"

/*
 * Plan an axis: ${n} output places over [start, start + length) of an input of
 * ${total}, weights in 1/${one}.  Doubles round alike on every machine here:
 * no libm but floor, no contraction.
 */
static struct resize_tap *
plan(int n, double start, double length, int total, int one)
{
	struct resize_tap *t = xcalloc((size_t)n, sizeof(*t));

	for (int i = 0; i < n; i++) {
		double x = start + (i + 0.5) * length / n - 0.5;

		x = x < 0 ? 0 : x > total - 1 ? total - 1 : x;
		t[i].at = (int)x;
		t[i].w[1] = (int)((x - t[i].at) * one + 0.5);
		t[i].w[0] = one - t[i].w[1];
	}
	return t;
}

void
resize_by(void (*run)(const struct resize_job *job), uint8_t *to, int to_w,
    int to_h, const uint8_t *from, int from_w, int from_h, struct region r,
    int flip)
{
	struct resize_tap *x = plan(to_w, r.x, r.w, from_w, 1 << 14);
	struct resize_tap *y = plan(to_h, r.y, r.h, from_h, 1 << 8);
	int first = x[0].at, last = x[to_w - 1].at + 1;
	struct resize_job job = { .to = to, .to_w = to_w, .to_h = to_h,
		.from = from + 3 * first, .stride = 3 * (size_t)from_w,
		.last_row = from_h - 1, .x = x, .y = y };

	/* The last column's neighbour has weight 0 and need not be there. */
	job.columns = (last < from_w ? last : from_w - 1) - first + 1;
	for (int i = 0; i < to_w; i++)
		x[i].at -= first;
	for (int i = 0, k = to_w - 1; flip && i < k; i++, k--) {
		struct resize_tap t = x[i];

		x[i] = x[k];
		x[k] = t;
	}
	run(&job);
	free(x);
	free(y);
}

void
image_resize(uint8_t *to, int to_w, int to_h, const uint8_t *from, int from_w,
    int from_h, struct region r, int flip)
{
	resize_by(ISA_PICK(resize_run), to, to_w, to_h, from, from_w, from_h,
	    r, flip);
}
