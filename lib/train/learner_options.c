/* What is asked of learners. */
#include "train/learner_options.h"

void
learner_options_check(const struct learner_options *o)
{
	const struct learner_options unset = LEARNER_OPTIONS;
	const char *theirs = o->every != unset.every ? "average-every" :
	    o->reset ? "average-state" :
	    o->outer_momentum > 0 ? "outer-momentum" :
	    o->outer_lr != unset.outer_lr ? "outer-lr" : NULL;

	if (o->n == 0 && theirs != NULL)
		options_wrong("--%s without --learners=N", theirs);
}

int
learner_options_outer(const struct learner_options *o)
{
	return o->outer_momentum > 0 || o->outer_lr != 1;
}
