/* Groups the clips of each cell for batch normalization. */
#include "base/fail.h"
#include "base/number.h"
#include "sched/group.h"

/* Return the largest size up to ${largest} that divides every batch. */
static int
group_largest(const struct schedule *s, int largest)
{
	int d = 0;	/* the greatest common divisor of all batches */

	for (const struct cell *c = NULL; (c = schedule_cell(s, c)) != NULL;)
		d = (int)common_divisor(d, c->batch);
	while (d % largest != 0)
		largest--;
	return largest;
}

int
group_default(const struct schedule *s)
{
	int least = SCHEDULE_BATCH;

	for (const struct cell *c = NULL; (c = schedule_cell(s, c)) != NULL;)
		least = c->batch < least ? c->batch : least;
	return least >= 16 ? 8 : least >= 2 ? least / 2 : 1;
}

int
group_constant(struct schedule *s, int size)
{
	for (int i = 0; i < s->stages; i++)
		for (int k = 0; k < s->stage[i].cells; k++) {
			struct cell *c = &s->stage[i].cell[k];

			if (c->batch % size != 0)
				return fail("stage %d, cycle %d: a batch of "
				    "%d is not a whole number of groups of %d "
				    "clips (groups of %d fit all batches)", i,
				    k, c->batch, size, group_largest(s, size));
			c->group = size;
			c->run = 0;
		}
	return 0;
}

/* Set the groups of one stage by the rule of group_pyslowfast. */
static int
group_stage(struct stage *g, int number, int size, int ranks, int by_stage)
{
	double base = (double)g->cell[g->cells - 1].batch / ranks;
	double q = by_stage ? base / size : 1;
	int splits = q > 1 ? (int)q : 1, devices = q < 1 ? (int)(1 / q) : 1;

	if (ranks % devices != 0)
		return fail("stage %d: batch normalization over %d devices "
		    "needs a multiple of that (found %d)", number, devices,
		    ranks);
	for (int k = 0; k < g->cells; k++) {
		struct cell *c = &g->cell[k];
		int own = c->batch / ranks;

		/* PySlowFast would drop the remainder, or stop. */
		if (c->batch % ranks != 0)
			return fail("stage %d, cycle %d: a batch of %d "
			    "cannot be shared equally by %d devices", number, k,
			    c->batch, ranks);
		if (own % splits != 0)
			return fail("stage %d, cycle %d: the %d clips of a "
			    "device cannot be split into %d equal groups",
			    number, k, own, splits);
		c->group = own / splits * devices;
		c->run = splits > 1 ? own : 0;
	}
	return 0;
}

int
group_pyslowfast(struct schedule *s, int size, int ranks, int by_stage)
{
	for (int i = 0; i < s->stages; i++)
		if (group_stage(&s->stage[i], i, size, ranks, by_stage) != 0)
			return -1;
	return 0;
}

struct step_split
cell_parts(const struct cell *c, int ranks, int spread)
{
	int groups = c->batch / c->group, k = ranks / groups;

	if (!spread || k < 2 || ranks % groups != 0 || c->group % k != 0)
		k = 1;
	return (struct step_split){ groups * k, c->group / k, k };
}

int
step_split_clip(const struct step_split *p, const struct cell *c, int part,
    int i)
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
