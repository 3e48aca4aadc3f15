/*
 * Test protocols of published programs.  vt-eval(1) says which paper each is
 * from.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "train/loop/views.h"
#include "train/run/identity.h"

static const struct views_protocol {
	enum sampler sampler;
	enum view_rule rule;
	int clips, crops, full;
	enum ensemble ensemble;
} protocols[] = {			/* in the order of VIEWS_NAMES */
	{ SAMPLER_TSM, VIEW_TSM, 1, 1, 0, ENSEMBLE_SCORES },
	{ SAMPLER_TSM, VIEW_TSM, 1, 1, 0, ENSEMBLE_SCORES },
	{ SAMPLER_TSM, VIEW_TSM, 2, 3, 1, ENSEMBLE_SCORES },
	{ SAMPLER_DENSE, VIEW_TSM, 10, 3, 1, ENSEMBLE_SCORES },
	{ SAMPLER_PYSLOWFAST, VIEW_PYSLOWFAST, 10, 3, 1,
	    ENSEMBLE_PROBABILITIES },
	{ SAMPLER_SSV2, VIEW_PYSLOWFAST, 1, 1, 0, ENSEMBLE_PROBABILITIES },
	{ SAMPLER_CHARADES, VIEW_PYSLOWFAST, 10, 3, 1, ENSEMBLE_MAX },
};

/* Return the index, in the list ${names} separated by "|", of the value that
 * the run of ${st} had for its setting ${name}.  Return 0 if it is not
 * listed. */
static int
views_setting(const struct state *st, const char *name, const char *names)
{
	char *value = identity_value(st->config, name);
	int i = value != NULL ? text_choice(names, value) : 0;

	free(value);
	return i > 0 ? i : 0;
}

void
views_set(int protocol, const struct state *st, struct view_options *v)
{
	const struct views_protocol *p = &protocols[protocol];

	v->sampler = p->sampler;
	v->rule = p->rule;
	v->clips = p->clips;
	v->crops = p->crops;
	v->full = p->full;
	v->ensemble = p->ensemble;
	v->stride = st->stride;
	v->largest = views_setting(st, "level", LEVEL_NAMES) == LEVEL_LARGEST;
	v->validate = protocol == 0;
	if (protocol > 0)
		return;
	v->sampler = (enum sampler)views_setting(st, "sampler", VIEWS_SAMPLERS);
	v->rule = crop_view((enum crop_rule)views_setting(st, "crop-rule",
	    CROP_NAMES));
}

int
views_check(const struct view_options *v)
{
	int largest = clip_test_max(v->sampler, v->stride);

	if (clip_needs_stride(v->sampler) && v->stride == 0)
		return fail("this sampler needs a stride, which the run does "
		    "not have (wanted --stride=N)");
	if (v->clips > largest)
		return fail("--clips=%d: this sampler has up to %d clip%s a "
		    "video", v->clips, largest, largest > 1 ? "s" : "");
	if (!crop_test_known(v->rule, v->crops))
		return fail("--crops=%d (wanted 1%s)", v->crops,
		    v->rule == VIEW_TSM ? ", 3, 5 or 10" : " or 3");
	return 0;
}

void
clip_settings_apply(const struct clip_settings *c, struct loader_options *o)
{
	o->sampler = (enum sampler)c->sampler;
	o->crop = (struct crop_options){ .rule = (enum crop_rule)c->crop_rule,
		.flip = c->flip, .low = c->low, .high = c->high,
		.inverse = c->inverse, .area = c->area,
		.resize = (enum resize_filter)c->resize,
		.distort = (int)c->distort,
		.positions = c->five ? 5 : CROP_POSITIONS,
		.largest = c->level == LEVEL_LARGEST };
	crop_parse_scales(c->scales, &o->crop);
	o->transforms = (struct transforms){ .mixup = c->mixup,
		.cutmix = c->cutmix, .ops = (int)c->ops,
		.level = (int)c->strength, .erase = c->erase,
		.repeat = (int)c->repeat };
	memcpy(o->transforms.jitter, c->jitter, sizeof(c->jitter));
}
