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
		.resize = (enum resize_filter)c->resize,
		.largest = c->level == LEVEL_LARGEST };
	o->transforms = (struct transforms){ .mixup = c->mixup,
		.cutmix = c->cutmix, .ops = (int)c->ops,
		.level = (int)c->strength, .erase = c->erase,
		.repeat = (int)c->repeat };
	memcpy(o->transforms.jitter, c->jitter, sizeof(c->jitter));
}
