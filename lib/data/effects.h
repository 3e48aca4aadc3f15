#ifndef DATA_EFFECTS_H
#define DATA_EFFECTS_H

/*
 * What else may be done to a clip for training, beside its crop: pure functions
 * of its number, the same in all its frames, on bytes [t][side][side][3].
 */

#include "base/rng.h"
#include "data/colour.h"

/* All 0, and repeat 0 or 1: nothing. */
struct effects {
	double mixup, cutmix;		/* of Beta(a, a) */
	double jitter[4];		/* brightness, contrast, saturation, hue */
	int ops, level;			/* of RandAugment */
	double erase;			/* the part of clips that are */
	int repeat;			/* clips that a sample gives in a row */
};

/*
 * effects_none(e): 1 if a clip alone stays as it is.
 * effects_mix(e): 1 if clips are mixed with others.
 */
int effects_none(const struct effects *e);
int effects_mixes(const struct effects *e);

/*
 * effects_apply(e, clip, t, side, pixels, room):
 * To one clip, whose rng_clip is ${clip}, in this order:
 * RandAugment: e->ops of RAND_OPS, drawn evenly, with the level e->level of 30
 * (Cubuk et al. 2020; magnitudes as torchvision's transforms.RandAugment);
 * colour jitter: factors evenly from 1 - j (at least 0) to 1 + j, and a turn of
 * the hue from -j to j, in an order that is drawn (torchvision's ColorJitter);
 * random erasing: noise over a box of 0.02 to 0.33 of the frame, whose ratio is
 * 0.3 to 3.3 (Zhong et al. 2020; torchvision's RandomErasing), the same noise
 * in all frames.
 * ${room} is a frame's bytes.
 */
void effects_apply(const struct effects *e, struct rng clip, int t, int side,
    uint8_t *pixels, uint8_t *room);

/* How two clips are mixed. */
struct mix {
	int share;			/* of its own, in 2^-15 */
	int cut;			/* x to x + w, y to y + h change places; 0:
					 * every pixel is a mean */
	int x, y, w, h;
};

#define MIX_ONE (1 << 15)

/*
 * effects_partner(i, n): the clip that clip ${i} of a microbatch of ${n} is
 * mixed with, and which is mixed with it; itself: none.
 * effects_mix_of(e, clip, side): how, where ${clip} is rng_clip of the first of
 * the two: by MixUp (Zhang et al. 2018) or by CutMix (Yun et al. 2019), evenly
 * if both are on.
 * effects_mix(m, t, side, a, b): mix the clips ${a} and ${b}, each in its place:
 * a becomes share * a + (1 - share) * b, and b the reverse, with the same share.
 */
int effects_partner(int i, int n);
struct mix effects_mix_of(const struct effects *e, struct rng clip, int side);
void effects_mix(const struct mix *m, int t, int side, uint8_t *a, uint8_t *b);

/* effects_beta(a, u): the x whose share of Beta(a, a) below it is ${u}. */
double effects_beta(double a, double u);

#endif
