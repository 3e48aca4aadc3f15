#ifndef EVAL_VIEW_OVERRIDES_H
#define EVAL_VIEW_OVERRIDES_H

/* The views that the user selects with options. */

#include "eval/model.h"
#include "train/loop/views.h"

/*
 * Values of the options.  A count or size of 0, and a choice whose field in
 * ${given} is 0, is left to the protocol or the checkpoint.
 */
struct view_overrides {
	struct { int sampler, stride, crop_rule, ensemble, full,
	    level; } given;
	int protocol, sampler, crop_rule, ensemble, full, level;
	int64_t clips, crops, stride, frames, side;
	int64_t microbatch, loader_threads, loader_memory;
};

/*
 * view_overrides_apply(o, m, v):
 * Set the views ${v} for the network ${m}, which has been read.  ${v} refers to
 * m->graph.  Return 0, or EXIT_USAGE after a message.
 */
int view_overrides_apply(const struct view_overrides *o, const struct model *m,
    struct view_options *v);

#endif
