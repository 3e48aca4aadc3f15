#ifndef DATA_MICROBATCHES_RUN_H
#define DATA_MICROBATCHES_RUN_H

/*
 * The microbatches of a run, for the files that plan them (microbatches.c) and
 * that say what each clip shows (microbatches_clip.c).
 */

#include <string.h>

#include "data/microbatches.h"
#include "data/order.h"

struct microbatches {
	const struct dataset *d;
	uint32_t samples;
	const struct needs *needs;
	enum target_kind *kind;			/* [needs->targets] */
	struct dims *shape;			/* [needs->streams], of the next */
	int raw, w, h;				/* clips come raw, of frames of
						 * up to w x h */

	/* Training: microbatch ${next} of this rank's in step ${at}. */
	const struct schedule *schedule;	/* NULL: testing */
	struct loader_options o;
	struct order *order;
	struct schedule_step at;
	int next, audited;			/* what is to be audited in it
						 * was given */

	/* Testing: view ${view} of ${views}. */
	struct view_options v;
	uint32_t first;				/* sample */
	uint64_t view, views;
};

/* 0: a target that the data do not have, which is none that counts. */
static inline int
target_labelled(const struct target_need *t)
{
	return strcmp(t->name, TARGET_DEFAULT) == 0;
}

#endif
