#ifndef CLIP_DRAW_H
#define CLIP_DRAW_H

/*
 * What is drawn for a training clip, and from which counter on.  Each question
 * has 65,536 counters of its own, so an answer stays the same when a question
 * is added, when another one needs more draws, or when a draw is repeated to
 * stay unbiased.  vt-checkpoint(5) lists them; a number is never used again
 * for something else, since it would change what a resumed run trains on.
 */

#include "base/rng.h"

enum draw {
	DRAW_STRIDE = 0 << 16,		/* frames between frames, if a range */
	DRAW_FRAMES = 1 << 16,		/* one for a window, T for segments */
	DRAW_CROP_SIZE = 2 << 16,
	DRAW_CROP_PLACE = 3 << 16,
	DRAW_FLIP = 4 << 16,
	DRAW_RAND = 5 << 16,		/* RandAugment */
	DRAW_JITTER = 6 << 16,		/* of colours */
	DRAW_ERASE = 7 << 16,
	DRAW_NOISE = 8 << 16,		/* what is put there, 4 words each */
	DRAW_MIX = 9 << 16		/* of the first of those mixed */
};

/* clip_draw(clip, what): the draws of a clip (rng_clip) that decide ${what}. */
static inline struct rng
clip_draw(struct rng clip, enum draw what)
{
	clip.draw = what;
	return clip;
}

#endif
