#ifndef CLIP_DRAW_H
#define CLIP_DRAW_H

/*
 * Counters of the random numbers of a training clip.  Each purpose has 65,536
 * counters of its own.  So its numbers do not depend on other purposes, nor on
 * how often a draw is repeated to stay unbiased.  vt-checkpoint(5) lists the
 * purposes.  Never reuse a number for another purpose: it would change the
 * clips of a resumed run.
 */

#include "base/rng.h"

enum draw {
	DRAW_STRIDE = 0 << 16,		/* stride, if it is a range */
	DRAW_FRAMES = 1 << 16,		/* 1 draw for a window, T for
					 * segments */
	DRAW_CROP_SIZE = 2 << 16,
	DRAW_CROP_PLACE = 3 << 16,
	DRAW_FLIP = 4 << 16,
	DRAW_RAND = 5 << 16,		/* RandAugment */
	DRAW_JITTER = 6 << 16,		/* color jitter */
	DRAW_ERASE = 7 << 16,		/* erased box */
	DRAW_NOISE = 8 << 16,		/* its noise, 4 words per draw */
	DRAW_MIX = 9 << 16		/* mixing, of the first partner */
};

/*
 * clip_draw(clip, what):
 * Return the random numbers of ${clip}, which is from rng_clip, for the purpose
 * ${what}.
 */
static inline struct rng
clip_draw(struct rng clip, enum draw what)
{
	clip.draw = what;
	return clip;
}

#endif
