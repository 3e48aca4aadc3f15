#ifndef CLIP_TRANSFORMS_PRINT_H
#define CLIP_TRANSFORMS_PRINT_H

/*
 * Print the transforms of a clip, in the format of vt-train(1) --trace-samples.
 */

#include <stdio.h>

#include "clip/transforms.h"

/*
 * transforms_print(e, clip, side, n, to):
 * Print to ${to} the transforms that transforms_apply does: one word per
 * transform, separated by blanks, as "rand-rotate=-9 saturation=1.21
 * erase=20x31+4+7".  ${n} words precede them on the line.  Return the number of
 * words now on the line.
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
