#ifndef EVAL_CHOSEN_H
#define EVAL_CHOSEN_H

/* The views that a user has chosen, one option at a time. */

#include "eval/model.h"
#include "train/loop/views.h"

/* As the options say, which share their names; 0 and what is not given: as the
 * protocol says, or the checkpoint. */
struct chosen {
	int protocol, sampler, crop_rule, ensemble, full;
	int64_t clips, crops, stride, frames, side;
	int64_t microbatch, loader_threads, loader_memory;
};

/* chosen_views(o, m, v): for the network ${m}, which has been read.  0, or an
 * exit status after a message. */
int chosen_views(const struct chosen *o, const struct model *m,
    struct view_options *v);

#endif
