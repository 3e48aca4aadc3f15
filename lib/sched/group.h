#ifndef SCHED_GROUP_H
#define SCHED_GROUP_H

/*
 * How the clips of each cell are grouped for batch normalisation.  These fill
 * in the group and run of every cell of a schedule that has none yet.
 */

#include "sched/schedule.h"

/*
 * group_default(s):
 * The size of a group where none is asked for: 8, as published recipes have it,
 * or half the smallest batch of ${s} where that is smaller, so that two ranks
 * can share every batch.
 */
int group_default(const struct schedule *s);

/*
 * group_constant(s, size):
 * ${size} consecutive clips in every cell, so that statistics mean the same in
 * every phase.  -1 after a message, with the largest size that would do, if a
 * batch is not a whole number of groups: nothing is ever truncated.
 */
int group_constant(struct schedule *s, int size);

/*
 * group_pyslowfast(s, size, ranks, by_stage):
 * The groups PySlowFast makes on ${ranks} devices.  With ${by_stage}, which is
 * its long cycle, q = batch / ranks / ${size} of a stage's last cell decides
 * for all of its cells: q > 1 splits the clips of each device into int(q)
 * interleaved groups, q < 1 joins int(1 / q) devices, and q = 1 leaves each
 * device its own.  Without, each device always has its own.  So a group grows
 * with the batch of the short cycle.  -1 after a message where that program
 * would stop or drop clips.  Its utils/multigrid.py, update_long_cycle, and
 * models/batchnorm_helper.py.
 */
int group_pyslowfast(struct schedule *s, int size, int ranks, int by_stage);

#endif
