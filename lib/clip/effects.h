#ifndef CLIP_EFFECTS_H
#define CLIP_EFFECTS_H

/*
 * What else may be done to a clip for training, beside its crop: pure functions
 * of its number, the same in all its frames, on bytes [t][side][side][3].
 */

#include "base/rng.h"
#include "clip/colour.h"

/* All 0, and repeat 0 or 1: nothing. */
struct effects {
	double mixup, cutmix;		/* of Beta(a, a) */
	double jitter[4];		/* brightness, contrast, saturation, hue */
	int ops, level;			/* of RandAugment */
	double erase;			/* the part of clips that are */
	int repeat;			/* clips that a sample gives in a row */
};

/*
 * effects_none(e): return 1 if no effect changes the pixels of a single clip.
 * effects_mixes(e): return 1 if clips are mixed with others.
 */
int effects_none(const struct effects *e);
int effects_mixes(const struct effects *e);

enum { EFFECTS_OPS = 16 };		/* of RandAugment, at most */

/* What is drawn for a clip: changes one after the other, and what is erased. */
struct effects_drawn {
	int n;
	struct { enum colour_op op; double v; } op[EFFECTS_OPS + 4];
	int of_rand;			/* the first of them, of RandAugment */
	int x, y, w, h;			/* w = 0: nothing */
};

/*
 * effects_draw(e, clip, side): what is drawn for the clip whose rng_clip is
 * ${clip}, in frames of ${side}.
 * effects_apply(e, clip, t, side, pixels, room):
 * Do it to the clip, in this order:
 * RandAugment: e->ops of RAND_OPS, drawn evenly, with the level e->level of 30
 * (Cubuk et al. 2020; magnitudes as torchvision's transforms.RandAugment);
 * colour jitter: factors evenly from 1 - j (at least 0) to 1 + j, and a turn of
 * the hue from -j to j, in an order that is drawn (torchvision's ColorJitter);
 * random erasing: noise over a box of 0.02 to 0.33 of the frame, whose ratio is
 * 0.3 to 3.3 (Zhong et al. 2020; torchvision's RandomErasing), the same noise
 * in all frames.
 * ${room} is a frame's bytes.
 */
struct effects_drawn effects_draw(const struct effects *e, struct rng clip,
    int side);
void effects_apply(const struct effects *e, struct rng clip, int t, int side,
    uint8_t *pixels, uint8_t *room);

/* How clips are mixed. */
struct mix {
	int share;			/* of its own, in 2^-15 */
	int cut;			/* x to x + w, y to y + h is the next one's; 0:
					 * every pixel is a mean */
	int x, y, w, h;
};

#define MIX_ONE (1 << 15)

/*
 * effects_ring(i, n, ring): the clips of a microbatch of ${n} that clip ${i} is
 * mixed with, itself too, in their order; returns how many.  They are pairs, the
 * first with the last, the second with the one before that, and so on, as a
 * batch and the same in reverse are mixed; if ${n} is odd the three in the middle
 * go around, each mixed with the next.  One clip is mixed with none.
 * effects_mix_of(e, clip, side): how, where ${clip} is rng_clip of the first of
 * them: by MixUp (Zhang et al. 2018) or by CutMix (Yun et al. 2019), evenly if
 * both are on.  h = 0 if it is not by CutMix.
 * effects_mix(m, t, side, clip, clips): mix them, each in its place: each becomes
 * share times itself and 1 - share times the next, the last one with the first.
 */
int effects_ring(int i, int n, int ring[3]);
struct mix effects_mix_of(const struct effects *e, struct rng clip, int side);
void effects_mix(const struct mix *m, int t, int side, uint8_t *const clip[],
    int clips);

/* effects_beta(a, u): the x whose share of Beta(a, a) below it is ${u}. */
double effects_beta(double a, double u);

#endif
