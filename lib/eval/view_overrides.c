/*
 * Derive the views of a clip from the checkpoint or the published test, the
 * protocol and explicit options, in increasing priority.
 */
#include "base/exit.h"
#include "base/fail.h"
#include "base/text.h"
#include "eval/view_overrides.h"
#include "train/loop/views.h"

int
view_overrides_apply(const struct view_overrides *o, const struct model *m,
    struct view_options *v)
{
	const struct state *state = &m->state;

	*v = (struct view_options){ .threads = (int)o->loader_threads,
		.n = (int)o->microbatch,
		.t = o->frames > 0 ? (int)o->frames : state->frames,
		.side = o->side > 0 ? (int)o->side : state->crop,
		.memory = (size_t)o->loader_memory,
		.needs = &m->graph->needs };
	if (v->t == 0 || v->side == 0) {
		fail("%s: no published clip is known for these weights (wanted "
		    "--frames=T, --crop=PIXELS and, unless the frames are "
		    "segments, --stride=N)", text_quote(m->path));
		return EXIT_USAGE;
	}
	/* The protocol sets defaults, which explicit options override. */
	views_set(o->protocol > 0 ? o->protocol : m->views.protocol, state, v);
	if (o->protocol == 0 && m->views.protocol > 0) {
		v->clips = m->views.clips;
		v->crops = m->views.crops;
		v->full = m->views.full;
	}
	if (o->clips > 0) {
		v->clips = (int)o->clips;
		v->validate = 0;
	}
	v->crops = o->crops > 0 ? (int)o->crops : v->crops;
	v->full = o->given.full ? o->full : v->full;
	if (o->given.sampler)
		v->sampler = (enum sampler)o->sampler;
	if (o->given.stride)
		v->stride = (int)o->stride;
	if (o->given.crop_rule)
		v->rule = (enum view_rule)o->crop_rule;
	if (o->given.level)
		v->largest = o->level == LEVEL_LARGEST;
	if (o->given.ensemble)
		v->ensemble = (enum ensemble)o->ensemble;
	return views_check(v) == 0 ? 0 : EXIT_USAGE;
}
