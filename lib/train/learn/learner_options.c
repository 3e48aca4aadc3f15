/* Options of K-step averaging. */
#include "train/learn/learner_options.h"

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
	    o->noise ? "noise-scale" : o->grow > 0 ? "batch-growth-max" : NULL;
	const char *growth =
	    o->grow_by != unset.grow_by ? "batch-growth-factor" :
	    o->grow_above != unset.grow_above ? "batch-growth-threshold" :
	    o->grow_after != unset.grow_after ? "batch-growth-patience" : NULL;

	if (o->n == 0 && theirs != NULL)
		options_wrong("--%s without --learners=N", theirs);
	if (o->groups == 0 && o->group_every != unset.group_every)
		options_wrong("--group-every without --learner-groups=G");
	if (o->n == 1 && (o->noise || o->grow > 0))
		options_wrong("--%s of one learner, which moves apart from nobody "
		    "(wanted --learners=2 or more)", o->noise ? "noise-scale" :
		    "batch-growth-max");
	if (o->grow == 0 && growth != NULL)
		options_wrong("--%s without --batch-growth-max=M", growth);
	if (o->grow > 0 && o->groups > 0)
		options_wrong("--batch-growth-max with --learner-groups, whose "
		    "averages hide how far learners move apart");
}

int
learner_options_outer(const struct learner_options *o)
{
	return o->n > 0 && (o->outer_momentum > 0 || o->outer_lr != 1);
}
