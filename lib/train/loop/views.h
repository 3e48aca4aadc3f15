#ifndef TRAIN_LOOP_VIEWS_H
#define TRAIN_LOOP_VIEWS_H

/* Test protocols: the views by which a sample is scored, and how their scores
 * are combined. */

#include "data/loader.h"
#include "train/run/checkpoint.h"

/* Names that vt-eval(1) explains, as choices of an option row. */
#define VIEWS_NAMES "auto|tsm|tsm-twice|tsm-dense|pyslowfast|ssv2|charades"
#define VIEWS_SAMPLERS "tsm|tsm-upstream|dense|ssv2|pyslowfast|charades"

/*
 * views_set(protocol, st, v):
 * Set sampler, rule, stride, clips, crops, full and ensemble of ${v} to those
 * of ${protocol}, its index in VIEWS_NAMES, and ${v}->largest as in that run.
 * Protocol 0, auto, is one clip and one crop, as in the validations of the run
 * that wrote checkpoint ${st}; only it sets ${v}->validate to 1.
 */
void views_set(int protocol, const struct state *st, struct view_options *v);

/* views_check(v): check that ${v} has a stride if its sampler needs one, and
 * that sampler and rule allow its clips and crops.  Return 0, or -1 after a
 * message. */
int views_check(const struct view_options *v);

#endif
