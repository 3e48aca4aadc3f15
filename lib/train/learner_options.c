/* What is asked of learners. */
#include "train/learner_options.h"

void
learner_options_check(const struct learner_options *o)
{
	const struct learner_options unset = LEARNER_OPTIONS;
	const char *theirs = o->every != unset.every ? "average-every" :
	    o->groups > 0 ? "learner-groups" :
	    o->group_every != unset.group_every ? "group-every" :
	    o->state != unset.state ? "average-state" :
	    o->outer_momentum > 0 ? "outer-momentum" :
	    o->outer_lr != unset.outer_lr ? "outer-lr" :
	    o->noise ? "noise-scale" : NULL;

	if (o->n == 0 && theirs != NULL)
		options_wrong("--%s without --learners=N", theirs);
	if (o->groups == 0 && o->group_every != unset.group_every)
		options_wrong("--group-every without --learner-groups=G");
	if (o->n == 1 && o->noise)
		options_wrong("--noise-scale of one learner, which moves apart "
		    "from nobody (wanted --learners=2 or more)");
}

int
learner_options_outer(const struct learner_options *o)
{
	return o->n > 0 && (o->outer_momentum > 0 || o->outer_lr != 1);
}
