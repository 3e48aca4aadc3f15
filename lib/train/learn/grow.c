/* The decision to grow the batch. */
#include <math.h>

#include "train/learn/grow.h"

int
grow_requested(const struct learner_settings *o)
{
	return o->grow > 1;
}

int
grow_step(const struct learner_settings *o, double noise, double gradient,
    struct state *s)
{
	/* The estimate of |g|^2 can be negative, which means noise alone. */
	int wants = noise > o->grow_above * fmax(gradient, 0);

	s->grow_wants = wants ? s->grow_wants + 1 : 0;
	if (s->grow_wants < o->grow_after || s->grown >= o->grow)
		return 0;
	s->grow_wants = 0;
	s->grown = s->grown * o->grow_by < o->grow ? (int)(s->grown *
	    o->grow_by) : (int)o->grow;
	return 1;
}
