/* Crop, resize and mirror in one pass. */
#include <stdlib.h>

#include "base/mem.h"
#include "media/image.h"
#include "media/resize.h"

/*
 * Plan an axis: ${n} output places over [start, start + length) of an input of
 * ${total}, with weights that add up to ${one}.  A coordinate is snapped to
 * 2^-20 first, so that it has the same weights wherever the input was cut: the
 * last bits of a double depend on how far it is from 0.
 */
static struct resize_tap *
plan(int n, double start, double length, int total, int one)
{
	struct resize_tap *t = xcalloc((size_t)n, sizeof(*t));
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
	return t;
}

void
resize_by(void (*run)(const struct resize_job *job), uint8_t *to, int to_w,
    int to_h, const uint8_t *from, int from_w, int from_h, struct region r,
    int flip)
{
	struct resize_tap *x = plan(to_w, r.x, r.w, from_w, RESIZE_ACROSS);
	struct resize_tap *y = plan(to_h, r.y, r.h, from_h, RESIZE_DOWN);

	for (int i = 0, k = to_w - 1; flip && i < k; i++, k--) {
		struct resize_tap t = x[i];

		x[i] = x[k];
		x[k] = t;
	}
	run(&(struct resize_job){ .to = to, .to_w = to_w, .to_h = to_h,
		.from = from, .from_w = from_w, .from_h = from_h, .x = x,
		.y = y });
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
