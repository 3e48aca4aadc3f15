/* Settings of clips for training. */
#include <string.h>

#include "train/loop/clips.h"

void
clips_set(const struct clip_settings *c, struct loader_options *o)
{
	o->sampler = (enum sampler)c->sampler;
	o->crop = (struct crop_options){ .rule = (enum crop_rule)c->crop_rule,
		.flip = c->flip, .low = c->low, .high = c->high,
		.inverse = c->inverse, .area = c->area,
		.resize = (enum resize_wish)c->resize };
	o->effects = (struct effects){ .mixup = c->mixup, .cutmix = c->cutmix,
		.ops = (int)c->ops, .level = (int)c->level, .erase = c->erase,
		.repeat = (int)c->repeat };
	memcpy(o->effects.jitter, c->jitter, sizeof(c->jitter));
}
