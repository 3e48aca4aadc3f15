#ifndef CLIP_TRANSFORMS_H
#define CLIP_TRANSFORMS_H

/*
 * Transforms of training clips other than the crop: RandAugment, color jitter,
 * random erasing, MixUp and CutMix.  They are pure functions of the clip's
 * number, the same in all its frames, on bytes [t][side][side][3].
 */

#include <stdio.h>

#include "base/rng.h"
#include "clip/color.h"

/* Which transforms are on.  All 0, and ${repeat} 0 or 1: none. */
struct transforms {
	double mixup, cutmix;		/* parameter a of Beta(a, a); 0: off */
	double jitter[4];		/* range of brightness, contrast,
					 * saturation, hue; 0: off */
	int ops, level;			/* RandAugment: operators, level 0 to
					 * 30 */
	double erase;			/* probability of erasing, 0 to 1 */
	int repeat;			/* repeated augmentation: clips in a row
					 * with the frames of one sample */
};

/*
 * transforms_repeats(e):
 * Return the number of clips of a sample in a row, at least 1.
 */
int transforms_repeats(const struct transforms *e);

/*
 * transforms_none(e):
 * Return 1 if no transform changes the pixels of a single clip.
 */
int transforms_none(const struct transforms *e);

/* transforms_mix_clips(e): return 1 if clips are mixed with others. */
int transforms_mix_clips(const struct transforms *e);

enum { EFFECTS_OPS = 16 };		/* maximum operators of RandAugment */

/* The transforms drawn for one clip: operators in order, and an erased box. */
struct transforms_drawn {
	/* number of operators */
	int n;
	struct { enum color_op op; double v; } op[EFFECTS_OPS + 4];
	int of_rand;			/* the first ${of_rand} are of
					 * RandAugment */
	int x, y, w, h;			/* erased box; w = 0: none */
};

/*
 * transforms_draw(e, clip, side):
 * Return the transforms of a clip with frames of ${side} x ${side} pixels.
 * ${clip} is rng_clip of the clip's number.
 */
struct transforms_drawn transforms_draw(const struct transforms *e,
    struct rng clip, int side);

/*
 * transforms_apply(e, clip, t, side, pixels, buffer):
 * Apply the transforms of transforms_draw to the clip ${pixels} of ${t} frames,
 * in place. ${buffer} is a buffer of one frame's bytes. The order is:
 *
 * - RandAugment: e->ops operators, uniform among RAND_OPS, at level e->level of
 *   30 (Cubuk et al. 2020; magnitudes of torchvision's
 *   transforms.RandAugment);
 * - color jitter in a random order: factors uniform from max(0, 1 - j) to 1 +
 *   j, and a hue rotation from -j to j (torchvision's ColorJitter);
 * - random erasing: a box of 0.02 to 0.33 of the frame, with a ratio of 0.3 to
 *   3.3, is filled with noise.  The noise is the same in all frames (Zhong et
 *   al. 2020; torchvision's RandomErasing).
 */
void transforms_apply(const struct transforms *e, struct rng clip, int t,
    int side, uint8_t *pixels, uint8_t *buffer);

/* How a clip is mixed with the next partner. */
struct mix {
	int lambda;			/* lambda: weight of the clip itself, in
					 * 2^-15 */
	int cut;			/* 1: CutMix, the box is taken from the
					 * next partner; 0: MixUp, every pixel
					 * is a weighted mean */
	int x, y, w, h;
};

#define MIX_ONE (1 << 15)

/*
 * transforms_partners(i, n, ring):
 * Set ${ring} to the mixing partners of clip ${i} in a microbatch of ${n},
 * itself included, in ascending order.  Return their number, 1 to 3.  Clip i is
 * paired with clip n - 1 - i, as if the batch were mixed with its reverse.  If
 * ${n} is odd and above 1, the three in the middle form a cycle.
 */
int transforms_partners(int i, int n, int ring[3]);

/*
 * transforms_mix_draw(e, clip, side):
 * Return how the partners are mixed; ${clip} is rng_clip of the first one.  Use
 * MixUp (Zhang et al. 2018) or CutMix (Yun et al.  2019), with equal
 * probability if both are on.  The box is all 0 for MixUp.
 */
struct mix transforms_mix_draw(const struct transforms *e, struct rng clip,
    int side);

/*
 * transforms_mix(m, t, side, c, clip, clips):
 * Mix the partners ${clip}[], ${clips} of them, [t][side][side][c], in place.
 * Each becomes lambda times itself plus 1 - lambda times the next one; the
 * first follows the last.
 */
void transforms_mix(const struct mix *m, int t, int side, int c,
    uint8_t *const clip[], int clips);

/*
 * transforms_beta_quantile(a, u): return the quantile of Beta(a, a) at ${u}, 0
 * to 1.
 */
double transforms_beta_quantile(double a, double u);

/*
 * transforms_print(e, clip, side, n, to):
 * Print to ${to} the transforms that transforms_apply does, in the format of
 * vt-train(1) --trace-samples: one word per transform, separated by blanks, as
 * "rand-rotate=-9 saturation=1.21 erase=20x31+4+7".  ${n} words precede them on
 * the line.  Return the number of words now on the line.
 */
int transforms_print(const struct transforms *e, struct rng clip, int side,
    int n, FILE *to);

/*
 * transforms_print_mix(m, with, n, to):
 * Print the mix ${m} as one word: "mixup=0.81:17" or
 * "cutmix=0.75:17:56x56+3+20".  It has lambda, the number ${with} of the
 * partner, and the box taken from it.  ${n} and the result are as for
 * transforms_print.
 */
int transforms_print_mix(const struct mix *m, unsigned long long with, int n,
    FILE *to);

#endif
