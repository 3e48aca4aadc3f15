/* Selection of the algorithm of a convolution (conv_select.h). */
#include "backend/cuda/conv_select.h"
#include "backend/cuda/fusion_cost.h"
#include "base/fail.h"

/* ---- times for the cost model ---- */

static double
conv_select_time_norm(void *at, const struct conv_shape *s, enum norm_part part)
{
	struct conv_algorithms *w = at;

	return w->norm(w, s, part);
}

static double conv_select_time_conv(void *at, const struct conv_shape *s);

/*
 * Record the measurement ${v} of ${s}.  If the cost model prefers the unfused
 * operations, replace ${v} by NO_ENGINE and their time.
 */
static void
conv_select_record(struct conv_algorithms *w, const struct conv_shape *s,
    const char *key, struct engine_config *v)
{
	const struct fusion_times watch = { w, conv_select_time_conv,
	    conv_select_time_norm };
	double plain = 0;

	conv_cache_add_measured(w->choices, key, v);
	if (v->seconds <= 0 || fusion_pays(s, &watch, &plain))
		return;
	*v = (struct engine_config){ .engine = NO_ENGINE, .seconds = plain };
	conv_cache_add_measured(w->choices, key, v);
}

/*
 * Return the seconds of the fastest algorithm for ${s}, or 0 if there is none.
 * Use the selection of this run if it was timed, else a known measurement, else
 * time it now.
 */
static double
conv_select_time_conv(void *at, const struct conv_shape *s)
{
	struct conv_algorithms *w = at;
	struct engine_config v = { .engine = NO_ENGINE };
	const struct engine_config *c;
	struct conv_plan *p;
	char key[CONV_KEY];

	w->key(s, key);
	if ((c = conv_cache_selected(w->choices, key)) == NULL ||
	    (c->engine != NO_ENGINE && c->seconds <= 0))
		c = conv_cache_measured(w->choices, key);
	if (c != NULL) {
		v = *c;
	} else if ((p = w->open(w, s)) != NULL) {
		if (w->tune(w, p, s, &v) == 0)
			conv_select_record(w, s, key, &v);
		w->close(w, p);
	}
	return v.engine != NO_ENGINE ? v.seconds : 0;
}

/* ---- selection ---- */

/*
 * Use the engine of ${c}, and copy it to ${*v}.  Return -1 if ${c} is NULL or
 * has none, or if the driver refuses it.
 */
static int
conv_select_make(struct conv_algorithms *w, struct conv_plan *p,
    const struct engine_config *c, struct engine_config *v)
{
	if (c == NULL || c->engine == NO_ENGINE)
		return -1;
	*v = *c;
	return w->use(w, p, c);
}

/*
 * Use the first algorithm of the heuristics, and store it in ${*v}.  Return -1
 * if there is none, after a message unless ${s} is a fused pattern.
 */
static int
conv_select_by_rule(struct conv_algorithms *w, const struct conv_shape *s,
    const char *key, struct conv_plan *p, struct engine_config *v)
{
	if (w->candidates(w, p, v, 1) > 0 && w->use(w, p, v) == 0)
		return 0;
	*v = (struct engine_config){ .engine = NO_ENGINE };
	return s->fusion != CONV_UNFUSED ? -1 :
	    fail("the driver has no algorithm for %s", key);
}

/*
 * Select the algorithm of ${p} by the rules of conv_select.h.  Return -1 if
 * there is none, or if ${s} is a pattern that should run unfused.  ${*v} is
 * then NO_ENGINE.
 */
static int
conv_select_plan(struct conv_algorithms *w, const struct conv_shape *s,
    const char *key, struct conv_plan *p, struct engine_config *v)
{
	int fused = s->fusion != CONV_UNFUSED, tries = w->how & TUNE_MEASURE;
	const struct engine_config *known;

	if (conv_select_make(w, p, conv_cache_selected(w->choices, key),
	    v) == 0)
		return 0;
	*v = (struct engine_config){ .engine = NO_ENGINE };
	if (fused && (w->how & TUNE_UNFUSED))
		return -1;
	known = tries ? conv_cache_measured(w->choices, key) : NULL;
	if (conv_select_make(w, p, known, v) == 0)
		return 0;
	if (fused && known != NULL && known->engine == NO_ENGINE) {
		*v = *known;
		return -1;
	}
	if (!tries || w->tune(w, p, s, v) != 0)
		return conv_select_by_rule(w, s, key, p, v);
	conv_select_record(w, s, key, v);
	return v->engine != NO_ENGINE ? 0 : -1;
}

struct conv_plan *
conv_select(struct conv_algorithms *w, const struct conv_shape *s)
{
	struct engine_config v = { .engine = NO_ENGINE };
	const struct engine_config *was;
	struct conv_plan *p;
	char key[CONV_KEY];
	int bad;

	w->key(s, key);
	was = conv_cache_selected(w->choices, key);
	if (s->fusion != CONV_UNFUSED && was != NULL &&
	    was->engine == NO_ENGINE)
		return NULL;
	p = w->open(w, s);
	bad = p == NULL || conv_select_plan(w, s, key, p, &v) != 0;
	if (!bad || s->fusion != CONV_UNFUSED)
		conv_cache_add(w->choices, key, &v);
	if (!bad)
		return p;
	if (p != NULL)
		w->close(w, p);
	return NULL;
}
