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

/*
 * Use the engine of ${c}, and copy it to ${*v}.  Return -1 if ${c} is NULL or
 * if the driver refuses it.
 */
static int
conv_select_make(struct conv_algorithms *w, struct conv_plan *p,
    const struct engine_config *c, struct engine_config *v)
{
	if (c == NULL)
		return -1;
	*v = *c;
	return w->use(w, p, c);
}

/*
 * Time the candidates of ${p}, use the fastest, and store it in ${*v}.  Return
 * -1 if nothing is measured or if no candidate passes.
 */
static int
conv_select_measure(struct conv_algorithms *w, const struct conv_shape *s,
    const char *key, struct conv_plan *p, struct engine_config *v)
{
	if (!w->measures)
		return -1;
	if (conv_select_make(w, p, conv_cache_find(w->choices,
	    ALGORITHMS_MEASURED, key), v) == 0)
		return 0;
	if (w->tune(w, p, s, v) != 0)
		return -1;
	conv_cache_add(w->choices, ALGORITHMS_MEASURED, key, v);
	return 0;
}

/*
 * Use the first algorithm of the heuristics, and store it in ${*v}.  Return -1
 * after a message if there is none.
 */
static int
conv_select_by_rule(struct conv_algorithms *w, const char *key,
    struct conv_plan *p, struct engine_config *v)
{
	if (w->candidates(w, p, v, 1) > 0 && w->use(w, p, v) == 0)
		return 0;
	return fail("the driver has no algorithm for %s", key);
}

struct conv_plan *
conv_select(struct conv_algorithms *w, const struct conv_shape *s)
{
	struct engine_config v = { 0 };
	struct conv_plan *p = w->open(w, s);
	char key[CONV_KEY];

	if (p == NULL)
		return NULL;
	w->key(s, key);
	if (conv_select_make(w, p, conv_cache_find(w->choices,
	    ALGORITHMS_SELECTED, key), &v) != 0 &&
	    conv_select_measure(w, s, key, p, &v) != 0 &&
	    conv_select_by_rule(w, key, p, &v) != 0) {
		w->close(w, p);
		return NULL;
	}
	conv_cache_add(w->choices, ALGORITHMS_SELECTED, key, &v);
	return p;
}
