#ifndef SCHED_GROUP_H
#define SCHED_GROUP_H

/*
 * Groups the clips of each cell for batch normalization, and shares the groups
 * of a step between ranks.  The functions group_* set group and run in every
 * cell of a schedule without groups.
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

struct step_split {
	int n;			/* microbatches, or their parts, in a step */
	int clips;		/* clips of each */
	int span;		/* k: parts of a group */
};

/*
 * cell_parts(c, ranks, spread):
 * Return the split of cell ${c} over ${ranks} ranks.  ${spread} 1 allows split
 * groups.  If the ranks cannot divide the groups equally, groups stay whole,
 * and there are fewer parts than ranks.
 */
struct step_split cell_parts(const struct cell *c, int ranks, int spread);

/*
 * step_split_clip(p, c, part, i):
 * Return the index in the batch of clip ${i} of part ${part} of the step.
 * Mixing combines clips i and n - 1 - i of a microbatch of n
 * (transforms_partners). So a part of an even number of clips takes one half
 * from the front of its group and the other from the end. Its clips then have
 * the same mixing partners as in the group. Other parts are consecutive.
 */
int step_split_clip(const struct step_split *p, const struct cell *c, int part,
    int i);

#endif
