/* Which part of the frame a clip shows. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "data/augment.h"
#include "data/draw.h"
#include "media/image.h"

#define SCALES 4

static int
least(int a, int b)
{
	return a < b ? a : b;
}

int
crop_sizes(int w, int h, int side, int pair[CROP_SIZES][2])
{
	static const double scale[SCALES] = { 1, .875, .75, .66 };
	int size[SCALES], n = 0, most = least(w, h);

	for (int i = 0; i < SCALES; i++) {
		size[i] = (int)(most * scale[i]);
		if (abs(size[i] - side) < 3)
			size[i] = least(side, most);
		if (size[i] < 1)
			size[i] = 1;
	}
	for (int i = 0; i < SCALES; i++)	/* the height varies slowest */
		for (int j = 0; j < SCALES; j++)
			if (abs(i - j) <= 1) {
				pair[n][0] = size[j];
				pair[n++][1] = size[i];
			}
	return n;
}

void
crop_places(int w, int h, int crop_w, int crop_h, int place[CROP_PLACES][2])
{
	/* In quarters of the free room, which are whole pixels, rounded down:
	 * the far places may lie up to 3 pixels off the edge. */
	static const int quarter[CROP_PLACES][2] = {
		{ 0, 0 }, { 4, 0 }, { 0, 4 }, { 4, 4 }, { 2, 2 },
		{ 0, 2 }, { 4, 2 }, { 2, 4 }, { 2, 0 },
		{ 1, 1 }, { 3, 1 }, { 1, 3 }, { 3, 3 } };

	for (int i = 0; i < CROP_PLACES; i++) {
		place[i][0] = quarter[i][0] * ((w - crop_w) / 4);
		place[i][1] = quarter[i][1] * ((h - crop_h) / 4);
	}
}

struct crop
crop_train(enum crop_rule rule, int w, int h, int side, int may_flip,
    struct rng clip)
{
	struct rng size = clip_draw(clip, DRAW_CROP_SIZE);
	struct rng where = clip_draw(clip, DRAW_CROP_PLACE);
	struct rng flip = clip_draw(clip, DRAW_FLIP);
	struct crop c = crop_test(w, h, 0, 1, 0);

	if (rule == CROP_MULTISCALE) {
		int pair[CROP_SIZES][2], place[CROP_PLACES][2];
		int n = crop_sizes(w, h, side, pair);
		const int *p = pair[rng_below(&size, (uint32_t)n)], *at;

		crop_places(w, h, p[0], p[1], place);
		at = place[rng_below(&where, CROP_PLACES)];
		c = (struct crop){ at[0], at[1], p[0], p[1], 0,
			RESIZE_ANTIALIAS | RESIZE_CUT };
	}
	c.flip = may_flip && rng_uniform(&flip) < 0.5;
	return c;
}

int
crop_test_known(int views)
{
	return views == 1 || views == 3 || views == 5 || views == 10;
}

struct crop
crop_test(int w, int h, int view, int views, int full)
{
	int most = least(w, h);
	/* lrint rounds halves to even, as the published programs do. */
	int side = full ? most : (int)lrint(most * (224.0 / 256));
	int place[CROP_PLACES][2];
	/* Numbers in crop_places of the views: three along each long side. */
	static const int wide[3] = { 5, 6, 4 }, tall[3] = { 8, 7, 4 };
	struct crop c;

	assert(crop_test_known(views) && view >= 0 && view < views);
	if (side < 1)
		side = 1;
	c = (struct crop){ (int)lrint((w - side) / 2.0),
	    (int)lrint((h - side) / 2.0), side, side, 0, RESIZE_ANTIALIAS };
	if (views > 1) {
		int which = views == 3 ? (w >= h ? wide : tall)[view] :
		    view % 5;

		crop_places(w, h, side, side, place);
		c.x = place[which][0];
		c.y = place[which][1];
		c.flip = view >= 5;
	}
	return c;
}
