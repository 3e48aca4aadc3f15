#ifndef TRAIN_GUARD_ABOUT_H
#define TRAIN_GUARD_ABOUT_H

/*
 * What a rank is at, by its clips, for the watch (comm/watch.h).  It costs a
 * store or two a microbatch: what clips a rank has is a function of the step, so
 * another rank can say it of one that does not answer any more.
 */

#include <stdatomic.h>

#include "train/loop/trainer.h"

struct about {
	_Atomic(uint64_t) clip;		/* the first of the microbatch that is
					 * computed */
	_Atomic(int64_t) sample;	/* it is of; -1: none is computed */
	atomic_int loading;		/* the loader is waited for */
};

/* about_computes(a, mb): from here on ${mb}; NULL: none.
 * about_loads(a, on): the loader is waited for, or no more. */
void about_computes(struct about *a, const struct microbatch *mb);
void about_loads(struct about *a, int on);

/* about_tell(t, rank, step, text, size): watch_about's; ${t} is the trainer. */
void about_tell(void *t, int rank, uint64_t step, char *text, size_t size);

#endif
