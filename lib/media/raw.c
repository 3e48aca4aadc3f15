/*
 * Write raw clips: copy the pixels that resizing reads, and the weights as
 * tables.  The plans are those of image_resize (resize.h), so a device computes
 * the same bits.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "media/raw.h"
#include "media/resize.h"

struct raw_clip {
	uint8_t *to;
	size_t capacity, used;
	int t, side, done;		/* frames */
	/*
	 * Keys of the tables written last; plan.across is 0 if there are none.
	 */
	struct resize_span across, down;
	/* filter of these tables */
	int antialias;
	/* the last frame with tables */
	struct decoded_frame plan;
};

/* ---- one axis, planned by either filter ---- */

struct raw_axis {
	int n;				/* output positions */
	const struct resize_tap *tap;	/* plan if bilinear, */
	const struct resize_axis *sum;	/* plan if antialiased */
	int first, end, taps;		/* pixels read: ${first} to ${end} - 1;
					 * maximum taps of a position */
};

static int
raw_axis_at(const struct raw_axis *a, int i)
{
	return a->tap != NULL ? a->tap[i].at : a->sum->at[i];
}

static int32_t
raw_axis_weight(const struct raw_axis *a, int i, int j)
{
	return a->tap != NULL ? a->tap[i].w[j] :
	    a->sum->k[(size_t)i * (size_t)a->sum->max_taps + (size_t)j];
}

static struct raw_axis
raw_axis_of(int n, int total, const struct resize_tap *tap,
    const struct resize_axis *sum)
{
	struct raw_axis a = { .n = n, .tap = tap, .sum = sum, .first = total,
		.taps = tap != NULL ? 2 : 0 };

	for (int i = 0; i < n; i++) {
		int at = raw_axis_at(&a, i), count = tap != NULL ? 2 :
		    sum->count[i];

		a.first = at < a.first ? at : a.first;
		a.end = at + count > a.end ? at + count : a.end;
		a.taps = count > a.taps ? count : a.taps;
	}
	a.end = a.end < total ? a.end : total;
	return a;
}

/* Write the table of ${a}, as in base/decoded_frame.h.  Return its end. */
static int32_t *
raw_axis_write(const struct raw_axis *a, int32_t *to)
{
	for (int i = 0; i < a->n; i++)
		*to++ = raw_axis_at(a, i) - a->first;
	for (int i = 0; i < a->n; i++)
		for (int j = 0; j < a->taps; j++)
			*to++ = raw_axis_weight(a, i, j);
	return to;
}

/* ---- frames ---- */

struct raw_clip *
raw_new(void)
{
	return xcalloc(1, sizeof(struct raw_clip));
}

void
raw_free(struct raw_clip *c)
{
	free(c);
}

void
raw_begin(struct raw_clip *c, uint8_t *to, size_t capacity, int t, int side)
{
	*c = (struct raw_clip){ .to = to, .capacity = capacity, .t = t, .side = side,
		.used = round_up((size_t)t * sizeof(struct decoded_frame), RAW_ALIGN) };
	assert(capacity >= c->used + (size_t)t * decoded_pixel_bytes(side, side));
}

static void
raw_copy_pixels(uint8_t *to, const struct image *from, int x, int y, int w,
    int h)
{
	for (int i = 0; i < h; i++)
		memcpy(to + 3 * (size_t)i * (size_t)w, from->data + 3 *
		    ((size_t)(y + i) * (size_t)from->w + (size_t)x),
		    3 * (size_t)w);
}

/*
 * Return 1 if the last tables fit this call.  Frames of a clip usually have the
 * same plan, unless jpeg_decode has returned them at different offsets.
 */
static int
raw_is_planned(struct raw_clip *c, const struct resize_call *call)
{
	struct resize_span across, down;
	int antialias = call->how & RESIZE_ANTIALIAS, same;

	resize_spans(call, &across, &down);
	same = resize_planned(&c->across, &across);
	same &= resize_planned(&c->down, &down);
	same &= c->antialias == antialias;
	c->antialias = antialias;
	return same && c->plan.across > 0;
}

/*
 * Write the raw pixels of ${from}, with tables if they differ from the last,
 * and set ${*f}.  Return 0, with nothing written, if the clip would exceed
 * ${largest} bytes.
 */
static int
raw_add_unresized(struct raw_clip *c, struct resizer *z,
    const struct resize_call *call, const struct image *from, size_t largest,
    struct decoded_frame *f)
{
	int same = raw_is_planned(c, call), antialias = c->antialias;
	struct raw_axis x, y;
	size_t tables;

	if (antialias)
		antialias_plan(&z->antialias, call);
	else
		resize_plan(z, call);
	x = raw_axis_of(c->side, from->w, antialias ? NULL : z->x,
	    &z->antialias.x);
	y = raw_axis_of(c->side, from->h, antialias ? NULL : z->y,
	    &z->antialias.y);
	tables = same ? 0 : decoded_table_bytes(c->side, x.taps, y.taps);
	*f = c->plan;
	if (!same)
		*f = (struct decoded_frame){ .taps = c->used,
			.w = x.end - x.first, .h = y.end - y.first,
			.across = x.taps, .down = y.taps,
			.antialias = antialias != 0 };
	if (c->used + tables + decoded_pixel_bytes(f->w, f->h) > largest) {
		c->plan.across = 0;		/* no tables match the keys
						 * now */
		return 0;
	}
	if (!same)
		raw_axis_write(&y,
		    raw_axis_write(&x, (int32_t *)(void *)(c->to + c->used)));
	c->used += tables;
	c->plan = *f;
	f->pixels = c->used;
	raw_copy_pixels(c->to + c->used, from, x.first, y.first, f->w, f->h);
	c->used += decoded_pixel_bytes(f->w, f->h);
	return 1;
}

void
raw_add(struct raw_clip *c, struct resizer *z, int how,
    const struct image *from, struct region r, int flip)
{
	struct decoded_frame *f = (struct decoded_frame *)(void *)c->to + c->done++;
	const struct resize_call call = { how, NULL, c->side, c->side,
		from->data, from->w, from->h, r, flip };
	size_t sized = decoded_pixel_bytes(c->side, c->side);

	/* Reserve a resized frame's bytes for each remaining frame. */
	if (raw_add_unresized(c, z, &call, from,
	    c->capacity - (size_t)(c->t - c->done) * sized, f))
		return;
	*f = (struct decoded_frame){ .pixels = c->used, .w = c->side,
		.h = c->side };
	image_resize(z, how, c->to + c->used, c->side, c->side, from->data,
	    from->w, from->h, r, flip);
	c->used += sized;
}

void
raw_repeat(struct raw_clip *c)
{
	struct decoded_frame *f = (struct decoded_frame *)(void *)c->to + c->done++;

	*f = f[-1];
}

size_t
raw_used(const struct raw_clip *c)
{
	return c->used;
}
