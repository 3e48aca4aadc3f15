/* Check the options of clips for training. */
#include "base/text.h"
#include "clips.h"

void
clips_check(const struct clip_settings *c)
{
	struct crop_options o;

	if (c->low > c->high)
		options_wrong("--jitter-min=%g is above --jitter-max=%g", c->low,
		    c->high);
	if (crop_parse_scales(c->scales, &o) != 0)
		options_wrong("--crop-scales=%s (wanted up to %d numbers above "
		    "0, at most 1, such as 1,0.8)", text_quote(c->scales),
		    CROP_SCALES_MAX);
}
