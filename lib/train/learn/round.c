/* Rounds, and the decision to grow the batch. */
#include <math.h>

#include "base/fail.h"
#include "train/learn/round.h"

int
round_begin(struct round *r, const struct trainer *t)
{
	if (r->begun)
		return 0;
	r->begun = 1;
	r->at = t->state;
	return 1;
}

int
round_due(const struct round *r, const struct trainer *t, int64_t n)
{
	return (t->state.step + 1 - r->at.step) % (uint64_t)(n *
	    t->state.grown) == 0 || schedule_next(t->schedule,
	    dataset_samples(t->train), &t->work->at).cell == NULL;
}

void
round_step(struct round *r, struct step_report *s, int due)
{
	r->requests |= s->request;
	s->not_averaged = !due;
	s->request = due ? r->requests : 0;
	if (due)
		r->begun = r->requests = 0;
}

int
round_fall_back(const struct round *r, struct trainer *t, int status)
{
	t->state.step = r->at.step;
	t->state.clips = r->at.clips;
	t->state.epoch = r->at.epoch;
	t->state.loss = r->at.loss;
	return status;
}

int
round_grows(const struct learner_settings *o)
{
	return o->grow > 1;
}

void
round_grow(struct trainer *t, double noise, double gradient)
{
	const struct learner_settings *o = &t->o.learners;
	struct state *s = &t->state;
	/* The estimate of |g|^2 can be negative, which means noise alone. */
	int wants = noise > o->grow_above * fmax(gradient, 0);

	s->grow_wants = wants ? s->grow_wants + 1 : 0;
	if (s->grow_wants < o->grow_after || s->grown >= o->grow)
		return;
	s->grow_wants = 0;
	s->grown = s->grown * o->grow_by < o->grow ? (int)(s->grown *
	    o->grow_by) : (int)o->grow;
	if (t->comm->rank == 0)
		note("step %llu: the batch is %d times that of the schedule "
		    "from here on", (unsigned long long)s->step, s->grown);
}
