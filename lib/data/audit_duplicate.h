#ifndef DATA_AUDIT_DUPLICATE_H
#define DATA_AUDIT_DUPLICATE_H

/*
 * Choose the microbatch of a step that is computed twice, and the rank that
 * repeats it (train/guard/audit.h).  The choice is a function of seed and step.
 * So loaders prefetch it, and a resumed run audits the same microbatches.
 */

#include "sched/schedule.h"

/* An audit duplicate. */
struct audit_duplicate {
	int due;			/* 0: none in this step; ignore the
					 * others */
	int index;			/* number of the microbatch in the
					 * step */
	int rank;			/* the rank that owns it */
	int repeat_rank;		/* the rank that repeats it */
};

/*
 * audit_duplicate_at(seed, at, every, ranks):
 * Return the audit duplicate of step ${at}, if any.  Every ${every} steps,
 * counted from 1, there is one; 0: never.  The pairs of ranks alternate: within
 * ranks * (ranks - 1) audits each rank audits each other one.  A single rank
 * audits itself.  Philox draws one of the microbatches of the audited rank.  If
 * that rank has none in the step, there is no duplicate.
 */
struct audit_duplicate audit_duplicate_at(uint64_t seed,
    const struct schedule_step *at, int64_t every, int ranks);

#endif
