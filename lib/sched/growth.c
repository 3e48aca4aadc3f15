/* Batch growth. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "sched/growth.h"

/*
 * Split the stage of ${epoch} so that one begins there.  Return its index, or
 * -1 after a message.
 */
static int
growth_cut(struct schedule *s, int epoch)
{
	struct stage *g, *after;
	struct lr_piece *all;
	int i = 0, n;

	while (i < s->stages && s->stage[i].epoch_end <= epoch)
		i++;
	if (i == s->stages)
		return fail("the batch grows at epoch %d, but the schedule "
		    "has %d epochs", epoch, schedule_epochs(s));
	if (s->stage[i].epoch_begin == epoch)
		return i;
	if (s->stages == SCHEDULE_STAGES)
		return fail("more than %d stages", SCHEDULE_STAGES);
	s->stage = xrealloc(s->stage, (size_t)s->stages + 1, sizeof(*s->stage));
	g = &s->stage[i];
	after = g + 1;
	memmove(after + 1, after, (size_t)(s->stages - i - 1) * sizeof(*g));
	s->stages++;
	*after = *g;
	g->epoch_end = after->epoch_begin = epoch;
	/* Both stages get copies of the pieces they need. */
	all = g->lr;
	n = g->pieces;
	g->pieces = lr_part(all, n, g->epoch_begin, epoch, &g->lr);
	after->pieces = lr_part(all, n, epoch, after->epoch_end, &after->lr);
	free(all);
	return i + 1;
}

/*
 * Multiply the batches of a stage by ${to} / ${from}.  Return 0, or -1 after a
 * message.
 */
static int
growth_multiply(struct stage *g, int from, int to, enum follow follow)
{
	double k = (double)to / from;

	for (int i = 0; i < g->cells; i++) {
		int64_t batch = (int64_t)g->cell[i].batch * to;

		if (batch % from != 0 || batch / from > SCHEDULE_BATCH)
			return fail("at epoch %d a batch of %d would become "
			    "%g (wanted a whole number up to %d)",
			    g->epoch_begin, g->cell[i].batch,
			    (double)batch / from, SCHEDULE_BATCH);
		g->cell[i].batch = (int)(batch / from);
	}
	for (int i = 0; i < g->pieces && follow == FOLLOW_LR; i++) {
		struct lr_piece *p = &g->lr[i];

		/* A piece that bends and ends within its stage is a warm-up. */
		if (p->kind != LR_FLAT && p->until < g->epoch_end)
			return fail("the batch grows at epoch %d, within the "
			    "warm-up of %g epochs", g->epoch_begin, p->until);
		p->r0 *= k;
		p->r1 *= k;
		if (p->r0 > LR_MAX || p->r1 > LR_MAX)
			return fail("at epoch %d the learning rate, scaled "
			    "with the batch, exceeds %g", g->epoch_begin,
			    LR_MAX);
	}
	if (follow == FOLLOW_MOMENTUM)
		g->momentum = 1 - (1 - g->momentum) / k;
	if (g->momentum < 0 || g->momentum > MOMENTUM_MAX)
		return fail("at epoch %d the momentum would become %g (wanted "
		    "0 to %g)", g->epoch_begin, g->momentum, MOMENTUM_MAX);
	return 0;
}

int
schedule_grow(struct schedule *s, int base, const struct growth_at *at, int n,
    enum follow follow, double momentum)
{
	for (int i = 0; i < s->stages && n > 0; i++) {
		s->stage[i].sets_momentum = follow == FOLLOW_MOMENTUM;
		s->stage[i].momentum = s->stage[i].sets_momentum ? momentum : 0;
	}
	for (int k = 0; k < n; k++) {
		int from = k > 0 ? at[k - 1].batch : base;
		int first = growth_cut(s, at[k].epoch);

		if (first < 0)
			return -1;
		for (int i = first; i < s->stages; i++)
			if (growth_multiply(&s->stage[i], from, at[k].batch,
			    follow) != 0)
				return -1;
	}
	return 0;
}
