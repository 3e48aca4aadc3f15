#ifndef SCHED_PARTS_H
#define SCHED_PARTS_H

/*
 * The microbatches of a step, as the ranks of a run compute them.
 *
 * A microbatch is a BN group, and a rank computes whole ones.  Where there are
 * more ranks than groups, groups may be spread: P ranks that are k times as many
 * as the groups have them in parts of b / k clips, k ranks that follow one
 * another to a group, and normalise by the statistics of the whole.  So k is a
 * matter of the cell: it is 1 wherever there are as many groups as ranks.
 */

#include "sched/schedule.h"

struct parts {
	int n;			/* microbatches, or parts of them, in a step */
	int clips;		/* of each */
	int span;		/* k: parts of a group */
};

/*
 * cell_parts(c, ranks, spread):
 * Of cell ${c} on so many ranks; ${spread}: groups may be.  Where the ranks
 * cannot share the batch they are as if groups may not be, and fewer than ranks.
 */
struct parts cell_parts(const struct cell *c, int ranks, int spread);

/*
 * parts_clip(p, c, part, i):
 * The place in the batch of clip ${i} of number ${part} of the step.  A part of an
 * even number of clips has one half from the front of its group and the other
 * from the end, in such an order that clip i and the last but i of it, which are
 * mixed (effects_ring), are so in the group, too.  Other parts are consecutive.
 */
int parts_clip(const struct parts *p, const struct cell *c, int part, int i);

#endif
