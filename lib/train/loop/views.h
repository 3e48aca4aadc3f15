#ifndef TRAIN_LOOP_VIEWS_H
#define TRAIN_LOOP_VIEWS_H

/* Test protocols: which views a sample is scored by, and how they are joined. */

#include "data/loader.h"
#include "train/run/checkpoint.h"

/* As vt-eval(1) names them, for its table of options. */
#define VIEWS_NAMES "auto|tsm|tsm-twice|tsm-dense|pyslowfast|ssv2|charades"
#define VIEWS_SAMPLERS "tsm|tsm-upstream|dense|ssv2|pyslowfast|charades"

/*
 * views_set(protocol, st, v):
 * Set sampler, rule, stride, clips, crops, full and ensemble of ${v}: those of
 * the protocol, its place in VIEWS_NAMES; of the first, one clip and one crop as
 * the run of checkpoint ${st} was validated, with validate set.
 * views_check(v): 0, or -1 after a message.
 */
void views_set(int protocol, const struct state *st, struct view_options *v);
int views_check(const struct view_options *v);

#endif
