#ifndef CLIP_EFFECTS_TELL_H
#define CLIP_EFFECTS_TELL_H

/*
 * Print the transforms of a clip, in the format of vt-train(1) --trace-samples.
 */

#include <stdio.h>

#include "clip/effects.h"

/*
 * effects_tell(e, clip, side, n, to):
 * Print to ${to} the transforms that effects_apply does: one word per
 * transform, separated by blanks, as "rand-rotate=-9 saturation=1.21
 * erase=20x31+4+7".  ${n} words precede them on the line.  Return the number of
 * words now on the line.
 */
int effects_tell(const struct effects *e, struct rng clip, int side, int n,
    FILE *to);

/*
 * effects_tell_mix(m, with, n, to):
 * Print the mix ${m} as one word: "mixup=0.81:17" or
 * "cutmix=0.75:17:56x56+3+20".  It has lambda, the number ${with} of the
 * partner, and the box taken from it.  ${n} and the result are as for
 * effects_tell.
 */
int effects_tell_mix(const struct mix *m, unsigned long long with, int n,
    FILE *to);

#endif
