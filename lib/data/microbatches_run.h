#ifndef DATA_MICROBATCHES_RUN_H
#define DATA_MICROBATCHES_RUN_H

/*
 * Internal state of a plan, for microbatches.c, which plans microbatches, and
 * microbatches_clip.c, which chooses the contents of clips.
 */

#include <string.h>

#include "data/microbatches.h"
#include "data/order.h"

struct microbatches {
	const struct dataset *d;
	uint32_t samples;
	const struct input_spec *needs;
	enum target_kind *kind;			/* [needs->targets] */
	struct dims *shape;			/* [needs->streams], scratch */

	/* Training: the next microbatch is number ${next} of this rank in step
	 * ${at}. */
	const struct schedule *schedule;	/* NULL: testing */
	struct loader_options o;
	struct order *order;
	struct schedule_step at;
	int next, audited;			/* 1: the step's audit duplicate
						 * was returned */

	/* Testing: the next view is number ${view} of ${views}. */
	struct view_options v;
	uint32_t first;				/* first sample */
	uint64_t view, views;
};

/*
 * Return 1 if datasets have labels for target ${t}.  Other targets get no
 * label, and their losses do not count.
 */
static inline int
microbatch_target_labeled(const struct target_spec *t)
{
	return strcmp(t->name, TARGET_DEFAULT) == 0;
}

#endif
