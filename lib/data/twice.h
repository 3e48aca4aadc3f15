#ifndef DATA_TWICE_H
#define DATA_TWICE_H

/*
 * Which microbatch of a step is computed a second time, and by which rank
 * (train/guard/audit.h): a function of seed and step, so that loaders prefetch it and
 * a run that is resumed audits what it would have.
 */

#include "sched/schedule.h"

struct twice {
	int due;			/* 0: none in this step */
	int index;			/* of the microbatch, in the step */
	int rank;			/* whose it is */
	int again;			/* who computes it again */
};

/*
 * twice_at(seed, at, every, ranks):
 * Every ${every} steps (0: never) there is one, counted from 1.  The pairs of
 * ranks take turns, so that within ranks * (ranks - 1) audits each rank audits
 * each other one; one rank alone audits itself.  Which of its microbatches it
 * is, Philox says.  None in a step that has fewer microbatches than ranks.
 */
struct twice twice_at(uint64_t seed, const struct schedule_step *at,
    int64_t every, int ranks);

#endif
