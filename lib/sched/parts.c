/* The split of a step's batch into microbatches. */
#include "sched/parts.h"

struct step_split
cell_parts(const struct cell *c, int ranks, int spread)
{
	int groups = c->batch / c->group, k = ranks / groups;

	if (!spread || k < 2 || ranks % groups != 0 || c->group % k != 0)
		k = 1;
	return (struct step_split){ groups * k, c->group / k, k };
}

int
parts_clip(const struct step_split *p, const struct cell *c, int part, int i)
{
	int group = part / p->span, number = part % p->span;
	int half = p->clips / 2, at = number * p->clips + i;

	/*
	 * Clips i and clips - 1 - i of a part are mixing partners in its group.
	 */
	if (p->span > 1 && p->clips % 2 == 0)
		at = i < half ? number * half + i :
		    c->group - (number + 1) * half + i - half;
	return cell_clip(c, group, at);
}
