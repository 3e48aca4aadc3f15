/* Choose the smallest level that covers a crop size. */
#include <math.h>

#include "clip/cover.h"

#define STORED 256.0		/* short side of the published programs' frames
				 * for crops of ... */
#define CROP 224.0		/* pixels */
#define SLACK 1e-9		/* for the rounding of 256/224 and .66 */

/* Return the smallest window as a part of the short side. */
static double
cover_window(const struct crop_options *o, int side)
{
	double smallest = 1;
	int low, high;

	switch (o->rule) {
	case CROP_MULTISCALE:
		for (int i = 0; i < o->scales; i++)
			smallest = fmin(smallest, o->scale[i]);
		return smallest;
	case CROP_JITTER:
	case CROP_JITTER_UPSTREAM:
		crop_jitter(o, side, &low, &high);
		return (double)side / high;
	case CROP_RESIZED:
		return sqrt(o->area * 3 / 4);
	case CROP_CENTER:
		break;
	}
	return CROP / STORED;
}

/*
 * Return the smallest level for crops of ${side} with the smallest window
 * ${window}; ${at_crop} is the window at a crop of 224.
 */
static int
cover_smallest(const struct level_list *l, int side, double window,
    double at_crop)
{
	double accepted = CROP / (at_crop * STORED);
	int best = 0;

	accepted = (accepted > 1 ? accepted : 1) * (1 + SLACK);
	for (int i = 1; i < l->n; i++)
		if (side <= accepted * window * l->level[i].side &&
		    (best == 0 || l->level[i].side < l->level[best].side))
			best = i;
	return best;
}

int
cover_train(const struct level_list *l, const struct crop_options *o, int side)
{
	return o->largest ? 0 : cover_smallest(l, side, cover_window(o, side),
	    cover_window(o, (int)CROP));
}

int
cover_test(const struct level_list *l, int side, int full)
{
	double window = full ? 1 : CROP / STORED;

	return cover_smallest(l, side, window, window);
}
