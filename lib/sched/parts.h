#ifndef SCHED_PARTS_H
#define SCHED_PARTS_H

/*
 * The split of a step's batch into microbatches for the ranks of a run.
 *
 * A microbatch is a BN group, and a rank computes whole ones.  If there are
 * more ranks than groups, groups may be split (sync BN).  P ranks, k times the
 * number of groups, then compute parts of b / k clips.  k consecutive ranks
 * form a group and normalize by its whole statistics.  k depends on the cell;
 * it is 1 if there are at least as many groups as ranks.
 */

#include "sched/schedule.h"

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
 * parts_clip(p, c, part, i):
 * Return the index in the batch of clip ${i} of part ${part} of the step.
 * Mixing combines clips i and n - 1 - i of a microbatch of n
 * (transforms_partners). So a part of an even number of clips takes one half
 * from the front of its group and the other from the end. Its clips then have
 * the same mixing partners as in the group. Other parts are consecutive.
 */
int parts_clip(const struct step_split *p, const struct cell *c, int part,
    int i);

#endif
