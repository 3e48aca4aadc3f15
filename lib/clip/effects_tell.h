#ifndef CLIP_EFFECTS_TELL_H
#define CLIP_EFFECTS_TELL_H

/* What is done to a clip, in the words of --trace-samples of vt-train(1). */

#include <stdio.h>

#include "clip/effects.h"

/*
 * effects_tell(e, clip, side, n, to): what effects_apply does, one word a change,
 * with a blank between two: "rand-rotate=-9 saturation=1.21 erase=20x31+4+7".
 * effects_tell_mix(m, with, n, to): "mixup=0.81:17" or
 * "cutmix=0.75:17:56x56+3+20": its own share, the clip that gives the rest, and
 * the box that is of that.
 * ${n} words are there already; both return how many there are now.
 */
int effects_tell(const struct effects *e, struct rng clip, int side, int n,
    FILE *to);
int effects_tell_mix(const struct mix *m, unsigned long long with, int n,
    FILE *to);

#endif
