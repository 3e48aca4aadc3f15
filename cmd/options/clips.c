/* Check the options of clips for training. */
#include "clips.h"

void
clips_check(const struct clip_settings *c)
{
	if (c->low > c->high)
		options_wrong("--jitter-min=%g is above --jitter-max=%g", c->low,
		    c->high);
}
