#ifndef SCHED_GROUP_H
#define SCHED_GROUP_H

/*
 * Groups the clips of each cell for batch normalization.  These functions set
 * group and run in every cell of a schedule without groups.
 */

#include "sched/schedule.h"

/*
 * group_default(s):
 * Return the default size of a group: 8, as in published recipes.  If the
 * smallest batch of ${s} has less than 16 clips, return half of it, so that two
 * ranks can share every batch.
 */
int group_default(const struct schedule *s);

/*
 * group_constant(s, size):
 * Make groups of ${size} consecutive clips in every cell, so that batch
 * statistics have the same meaning in every phase.  Batches are never
 * truncated: if one is not a whole number of groups, return -1 after a message
 * with the largest size that fits all batches.  Otherwise return 0.
 */
int group_constant(struct schedule *s, int size);

/*
 * group_pyslowfast(s, size, ranks, by_stage):
 * Make the groups that PySlowFast makes on ${ranks} devices.  The clips of one
 * device form a group, unless ${by_stage} is 1, as in its long cycle.  Then q =
 * batch / ranks / ${size} of a stage's last cell determines all of its cells:
 *
 *	q > 1: split the clips of each device into int(q) interleaved groups
 *	q < 1: join the clips of int(1 / q) devices
 *	q = 1: one group a device
 *
 * A group therefore grows with the batch of the short cycle.  Return 0, or -1
 * after a message where PySlowFast would stop or drop clips.  Sources:
 * utils/multigrid.py, update_long_cycle; models/batchnorm_helper.py.
 */
int group_pyslowfast(struct schedule *s, int size, int ranks, int by_stage);

#endif
