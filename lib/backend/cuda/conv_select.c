/* Selection of the algorithm of a convolution (conv_select.h). */
#include "backend/cuda/conv_select.h"
#include "backend/cuda/cuda.h"
#include "base/fail.h"

size_t
conv_select_bytes(const struct conv_shape *s, int which)
{
	const int *extent[] = { s->from, s->kernel, s->to };
	size_t n = cuda_size(s->type);

	if (which == 1)
		n *= (size_t)s->out * (size_t)(s->in / s->groups);
	else
		n *= (size_t)s->n * (size_t)(which == 0 ? s->in : s->out);
	for (int i = 0; i < s->dims; i++)
		n *= (size_t)extent[which][i];
	return n;
}

/* ---- the cost model of fused patterns ---- */

static double conv_select_time(struct conv_algorithms *w,
    const struct conv_shape *s);

/*
 * Return the seconds of another pass or pattern of the same shape, or 0 if
 * there is no algorithm.
 */
static double
conv_select_time_of(struct conv_algorithms *w, const struct conv_shape *s,
    enum conv_pass pass, enum conv_fusion pattern)
{
	struct conv_shape as = *s;

	as.pass = pass;
	as.fusion = pattern;
	return conv_select_time(w, &as);
}

/*
 * Return the seconds of a plain convolution and then the sums, or 0 if unknown.
 */
static double
conv_select_unfused_sums(struct conv_algorithms *w,
    const struct conv_shape *s)
{
	double conv = conv_select_time_of(w, s, CONV_FORWARD, CONV_UNFUSED);
	double sums = conv > 0 ? w->norm(w, s, PART_SUMS) : 0;

	return sums > 0 ? conv + sums : 0;
}

/* Return 1 unless the unfused operations are known to be faster. */
static int
conv_select_fuses(double fused, double plain)
{
	return plain <= 0 || fused <= plain;
}

static int
conv_select_norms_pay(struct conv_algorithms *w, const struct conv_shape *s,
    double *plain)
{
	double forward = conv_select_time_of(w, s, CONV_FORWARD,
	    CONV_NORMED_SUMS);
	double data = conv_select_time_of(w, s, CONV_DATA, CONV_NORM_BACK);
	double weights = conv_select_time_of(w, s, CONV_WEIGHTS, CONV_NORMED);
	double sums, apart, plain_data, plain_weights, apply, sums_back;

	if (forward <= 0 || data <= 0 || weights <= 0)
		return 1;		/* without one of the three patterns,
					 * the caller uses none */
	sums = conv_select_time_of(w, s, CONV_FORWARD, CONV_SUMS);
	apart = conv_select_unfused_sums(w, s);
	plain_data = conv_select_time_of(w, s, CONV_DATA, CONV_UNFUSED);
	plain_weights = conv_select_time_of(w, s, CONV_WEIGHTS, CONV_UNFUSED);
	apply = w->norm(w, s, PART_APPLY);
	sums_back = w->norm(w, s, PART_SUMS_BACK);
	if (apart <= 0 || plain_data <= 0 || plain_weights <= 0 || apply <= 0 ||
	    sums_back <= 0)
		return 1;
	*plain = (sums > 0 && sums < apart ? sums : apart) + plain_data +
	    plain_weights + apply + sums_back;
	return conv_select_fuses(forward + data + weights, *plain);
}

/*
 * Return 1 if the pattern ${s}, which has an engine, should run fused.
 * Otherwise return 0 and store the seconds of the unfused operations in
 * ${*plain}.  Always return 1 for patterns other than CONV_SUMS and
 * CONV_NORMED_SUMS, and if a time is unknown.
 *
 * CONV_SUMS is compared with a plain convolution and the kernel norm_sums of y.
 *
 * CONV_NORMED_SUMS also decides for CONV_NORM_BACK and CONV_NORMED of the same
 * shape, because all three are used or none.  The model compares
 *
 *	fused	the three patterns
 *	unfused	norm_apply of x, and the faster of CONV_SUMS and a plain
 *		convolution with norm_sums of y; a plain data pass with
 *		norm_sums_back of x; a plain weights pass
 *
 * Operations common to both are left out.
 */
static int
conv_select_pays(struct conv_algorithms *w, const struct conv_shape *s,
    double *plain)
{
	if (s->fusion == CONV_NORMED_SUMS)
		return conv_select_norms_pay(w, s, plain);
	if (s->fusion != CONV_SUMS)
		return 1;
	*plain = conv_select_unfused_sums(w, s);
	return conv_select_fuses(conv_select_time_of(w, s, CONV_FORWARD,
	    CONV_SUMS), *plain);
}

/*
 * Record the measurement ${v} of ${s}.  If the cost model prefers the unfused
 * operations, replace ${v} by NO_ENGINE and their time.
 */
static void
conv_select_record(struct conv_algorithms *w, const struct conv_shape *s,
    const char *key, struct engine_config *v)
{
	double plain = 0;

	conv_cache_add(w->choices, ALGORITHMS_MEASURED, key, v);
	if (v->seconds <= 0 || conv_select_pays(w, s, &plain))
		return;
	*v = (struct engine_config){ .engine = NO_ENGINE, .seconds = plain };
	conv_cache_add(w->choices, ALGORITHMS_MEASURED, key, v);
}

/*
 * Return the seconds of the fastest algorithm for ${s}, or 0 if there is none.
 * Use the selection of this run if it was timed, else a known measurement, else
 * time it now.
 */
static double
conv_select_time(struct conv_algorithms *w, const struct conv_shape *s)
{
	struct engine_config v = { .engine = NO_ENGINE };
	const struct engine_config *c;
	struct conv_plan *p;
	char key[CONV_KEY];

	w->key(s, key);
	c = conv_cache_find(w->choices, ALGORITHMS_SELECTED, key);
	if (c == NULL || (c->engine != NO_ENGINE && c->seconds <= 0))
		c = conv_cache_find(w->choices, ALGORITHMS_MEASURED, key);
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

	if (conv_select_make(w, p, conv_cache_find(w->choices,
	    ALGORITHMS_SELECTED, key), v) == 0)
		return 0;
	*v = (struct engine_config){ .engine = NO_ENGINE };
	if (fused && (w->how & TUNE_UNFUSED))
		return -1;
	known = tries ? conv_cache_find(w->choices, ALGORITHMS_MEASURED, key) :
	    NULL;
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
	was = conv_cache_find(w->choices, ALGORITHMS_SELECTED, key);
	if (s->fusion != CONV_UNFUSED && was != NULL &&
	    was->engine == NO_ENGINE)
		return NULL;
	p = w->open(w, s);
	bad = p == NULL || conv_select_plan(w, s, key, p, &v) != 0;
	if (!bad || s->fusion != CONV_UNFUSED)
		conv_cache_add(w->choices, ALGORITHMS_SELECTED, key, &v);
	if (!bad)
		return p;
	if (p != NULL)
		w->close(w, p);
	return NULL;
}
