/*
 * Choose the crops of clips, as the published programs do, including their
 * rounding.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "clip/augment.h"
#include "clip/draw.h"
#include "media/image.h"

static int
crop_min(int a, int b)
{
	return a < b ? a : b;
}

int
crop_parse_scales(const char *text, struct crop_options *o)
{
	char *copy = xstrdup(text), *next = copy, *one;
	int bad = 0;

	o->scales = 0;
	while (!bad && (one = strsep(&next, ",")) != NULL)
		bad = o->scales == CROP_SCALES_MAX || text_real(one, 1e-6, 1,
		    &o->scale[o->scales++]) != 0;
	free(copy);
	return bad ? -1 : 0;
}

int
crop_sizes(const struct crop_options *o, int w, int h, int side,
    int pair[CROP_SIZES_MAX][2])
{
	int size[CROP_SCALES_MAX], n = 0, largest = crop_min(w, h);

	for (int i = 0; i < o->scales; i++) {
		size[i] = (int)(largest * o->scale[i]);
		if (abs(size[i] - side) < 3)
			size[i] = crop_min(side, largest);
		if (size[i] < 1)
			size[i] = 1;
	}
	for (int i = 0; i < o->scales; i++)	/* the height varies slowest */
		for (int j = 0; j < o->scales; j++)
			if (abs(i - j) <= o->distort) {
				pair[n][0] = size[j];
				pair[n++][1] = size[i];
			}
	return n;
}

void
crop_positions(int w, int h, int crop_w, int crop_h,
    int place[CROP_POSITIONS][2])
{
	/* In quarters of the free space, in whole pixels rounded down.  The
	 * farthest positions may end up to 3 pixels before the edge, as
	 * published. */
	static const int quarter[CROP_POSITIONS][2] = {
		{ 0, 0 }, { 4, 0 }, { 0, 4 }, { 4, 4 }, { 2, 2 },
		{ 0, 2 }, { 4, 2 }, { 2, 4 }, { 2, 0 },
		{ 1, 1 }, { 3, 1 }, { 1, 3 }, { 3, 3 } };

	for (int i = 0; i < CROP_POSITIONS; i++) {
		place[i][0] = quarter[i][0] * ((w - crop_w) / 4);
		place[i][1] = quarter[i][1] * ((h - crop_h) / 4);
	}
}

/* ---- training ---- */

const struct crop_options crop_defaults = { .rule = CROP_MULTISCALE, .flip = 1,
	.low = 256, .high = 320, .area = 0.08, .scale = { 1, .875, .75, .66 },
	.scales = 4, .distort = 1, .positions = CROP_POSITIONS };

enum view_rule
crop_view(enum crop_rule rule)
{
	return rule == CROP_MULTISCALE || rule == CROP_CENTER ? VIEW_TSM :
	    VIEW_PYSLOWFAST;
}

void
crop_jitter(const struct crop_options *o, int side, int *low, int *high)
{
	double by = side / 224.0;

	/* lrint rounds halves to even, as the published programs do. */
	*low = (int)lrint(o->low * by);
	*high = (int)lrint(o->rule == CROP_JITTER ? o->high * by : o->high);
	*low = *low > side ? *low : side;
	*high = *high > *low ? *high : *low;
}

/* The published program crops first and then resizes with Pillow. */
static struct crop
crop_multiscale(const struct crop_options *o, int w, int h, int side,
    struct rng size, struct rng where)
{
	int pair[CROP_SIZES_MAX][2], place[CROP_POSITIONS][2];
	int n = crop_sizes(o, w, h, side, pair);
	const int *p = pair[rng_below(&size, (uint32_t)n)], *at;

	crop_positions(w, h, p[0], p[1], place);
	at = place[rng_below(&where, (uint32_t)o->positions)];
	return (struct crop){ at[0], at[1], p[0], p[1], 0,
		RESIZE_ANTIALIAS | RESIZE_CUT };
}

/*
 * Return the square of ${side} at (x, y) of the frame resized to ${to}, in
 * stored pixels.
 */
static struct crop
crop_of_scaled(int w, int h, const int to[2], int x, int y, int side, int how)
{
	double across = (double)w / to[0], down = (double)h / to[1];

	return (struct crop){ x * across, y * down, side * across,
		side * down, 0, how };
}

static struct crop
crop_draw_jitter(const struct crop_options *o, int w, int h, int side,
    struct rng size, struct rng where)
{
	int low, high, to[2], at[2];
	double u = rng_uniform(&size), length;

	crop_jitter(o, side, &low, &high);
	if (o->inverse)
		length = 1 / (1.0 / high + u * (1.0 / low - 1.0 / high));
	else
		length = low + u * (high - low);
	crop_scaled(VIEW_PYSLOWFAST, w, h, (int)lrint(length), to);
	for (int i = 0; i < 2; i++) {
		int capacity = to[i] - side;

		/* Upstream's randint excludes its upper bound, the last
		 * position. */
		if (o->rule == CROP_JITTER)
			capacity++;
		at[i] = capacity > 0 ? (int)rng_below(&where,
		    (uint32_t)capacity) : 0;
	}
	return crop_of_scaled(w, h, to, at[0], at[1], side, RESIZE_BILINEAR);
}

/* Set ${*cw} and ${*ch} to the largest size with a ratio from 3/4 to 4/3. */
static void
crop_middle(int w, int h, int *cw, int *ch)
{
	double ratio = (double)w / h;

	*cw = ratio > 4.0 / 3 ? (int)lrint(h * (4.0 / 3)) : w;
	*ch = ratio < 3.0 / 4 ? (int)lrint(w / (3.0 / 4)) : h;
	*cw = crop_min(*cw, w);
	*ch = crop_min(*ch, h);
}

/*
 * Draw area and log ratio uniformly until the size fits, at most ten times, as
 * PySlowFast's random_resized_crop.
 */
static struct crop
crop_resized(const struct crop_options *o, int w, int h, struct rng size,
    struct rng where)
{
	int cw, ch, x, y;

	for (int i = 0; i < 10; i++) {
		double area = (double)w * h * (o->area + rng_uniform(&size) *
		    (1 - o->area));
		double ratio = exp((2 * rng_uniform(&size) - 1) *
		    log(4.0 / 3));

		cw = (int)lrint(sqrt(area * ratio));
		ch = (int)lrint(sqrt(area / ratio));
		if (cw < 1 || ch < 1 || cw > w || ch > h)
			continue;
		x = (int)rng_below(&where, (uint32_t)(w - cw) + 1);
		y = (int)rng_below(&where, (uint32_t)(h - ch) + 1);
		return (struct crop){ x, y, cw, ch, 0,
			RESIZE_BILINEAR | RESIZE_CUT };
	}
	crop_middle(w, h, &cw, &ch);
	x = (w - cw) / 2;
	y = (h - ch) / 2;
	return (struct crop){ x, y, cw, ch, 0, RESIZE_BILINEAR | RESIZE_CUT };
}

struct crop
crop_train(const struct crop_options *o, int w, int h, int side,
    struct rng clip)
{
	struct rng size = clip_draw(clip, DRAW_CROP_SIZE);
	struct rng where = clip_draw(clip, DRAW_CROP_PLACE);
	struct rng flip = clip_draw(clip, DRAW_FLIP);
	struct crop c = { 0 };

	switch (o->rule) {
	case CROP_MULTISCALE:
		c = crop_multiscale(o, w, h, side, size, where);
		break;
	case CROP_JITTER:
	case CROP_JITTER_UPSTREAM:
		c = crop_draw_jitter(o, w, h, side, size, where);
		break;
	case CROP_RESIZED:
		c = crop_resized(o, w, h, size, where);
		break;
	case CROP_CENTER:
		c = crop_test(VIEW_TSM, w, h, side, 0, 1, 0);
		break;
	}
	/* This also clears RESIZE_CUT (augment.h). */
	if (o->resize == RESIZE_ALL_BILINEAR)
		c.how = RESIZE_BILINEAR;
	if (o->resize == RESIZE_ALL_ANTIALIAS)
		c.how |= RESIZE_ANTIALIAS;
	c.flip = o->flip && rng_uniform(&flip) < 0.5;
	return c;
}

/* ---- testing ---- */

int
crop_test_known(enum view_rule rule, int views)
{
	return views == 1 || views == 3 ||
	    (rule == VIEW_TSM && (views == 5 || views == 10));
}

void
crop_scaled(enum view_rule rule, int w, int h, int size, int to[2])
{
	int wide = w >= h;
	double longer = wide ? w : h, shorter = wide ? h : w;

	/* TSM uses torchvision's Resize, which orders the operations
	 * differently. */
	to[wide] = size;
	to[!wide] = (int)(rule == VIEW_TSM ? size * longer / shorter :
	    floor(longer / shorter * size));
}

static struct crop
crop_tsm_view(int w, int h, const int to[2], int side, int view, int views)
{
	/* Indexes in crop_positions of 3 views along the long side. */
	static const int wide[3] = { 5, 6, 4 }, tall[3] = { 8, 7, 4 };
	int place[CROP_POSITIONS][2], which;
	struct crop c;

	/* torchvision's CenterCrop rounds halves to even. */
	if (views == 1)
		return crop_of_scaled(w, h, to,
		    (int)lrint((to[0] - side) / 2.0),
		    (int)lrint((to[1] - side) / 2.0), side, RESIZE_ANTIALIAS);
	which = views == 3 ? (w >= h ? wide : tall)[view] : view % 5;
	crop_positions(to[0], to[1], side, side, place);
	c = crop_of_scaled(w, h, to, place[which][0], place[which][1], side,
	    RESIZE_ANTIALIAS);
	c.flip = view >= 5;
	return c;
}

static struct crop
crop_pyslowfast_view(int w, int h, const int to[2], int side, int view,
    int views)
{
	int at[2], along = to[0] >= to[1] ? 0 : 1;

	for (int i = 0; i < 2; i++)
		at[i] = (to[i] - side + 1) / 2;	/* rounded up */
	if (views == 3 && view != 1)
		at[along] = view == 0 ? 0 : to[along] - side;
	return crop_of_scaled(w, h, to, at[0], at[1], side, RESIZE_BILINEAR);
}

struct crop
crop_test(enum view_rule rule, int w, int h, int side, int view, int views,
    int full)
{
	int size = full ? side : (int)lrint(side * (256.0 / 224)), to[2];

	assert(crop_test_known(rule, views) && view >= 0 && view < views);
	crop_scaled(rule, w, h, size, to);
	return rule == VIEW_TSM ? crop_tsm_view(w, h, to, side, view, views) :
	    crop_pyslowfast_view(w, h, to, side, view, views);
}
