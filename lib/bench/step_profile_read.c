/* Read the table of vt-bench profile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"
#include "bench/step_profile.h"

#define GRADIENT "gradient/"
#define STATISTIC "statistic/"
#define READY "ready/"

/*
 * Split the name profile/NET/BxTxS/WHAT.  Set p->net to NET, cut to its size,
 * and ${*s} to the shape.  Return WHAT, or NULL if the row belongs to something
 * else.
 */
static const char *
step_profile_split(struct step_profile *p, const char *name,
    struct bench_shape *s)
{
	char text[40];
	const char *net, *at, *what;
	size_t n;

	if (!text_starts(name, "profile/") ||
	    (at = strchr(net = name + strlen("profile/"), '/')) == NULL ||
	    (what = strchr(++at, '/')) == NULL)
		return NULL;
	n = (size_t)(what - at);
	if (n >= sizeof(text))
		return NULL;
	memcpy(text, at, n);
	text[n] = '\0';
	if (shape_parse(text, s) != 0)
		return NULL;
	snprintf(p->net, sizeof(p->net), "%.*s", (int)(at - 1 - net), net);
	return what + 1;
}

static struct step_cell *
step_profile_find(struct step_profile *p, const struct bench_shape *s)
{
	for (size_t i = 0; i < p->cells; i++)
		if (memcmp(&p->cell[i].shape, s, sizeof(*s)) == 0)
			return &p->cell[i];
	p->cell = array_reserve(p->cell, p->cells, &p->cap, sizeof(*p->cell));
	p->cell[p->cells] = (struct step_cell){ .shape = *s, .forward = -1,
		.backward = -1, .update = -1,
		.step = { -1, -1, -1, -1 } };
	return &p->cell[p->cells++];
}

/* Return where the median of row ${what} goes, or NULL. */
static double *
step_profile_value(struct step_cell *c, const char *what)
{
	const struct { const char *name; double *to; } value[] = {
		{ "forward", &c->forward }, { "backward", &c->backward },
		{ "update", &c->update }, { "step", &c->step[STEP_MEDIAN] },
		{ "step/p90", &c->step[STEP_P90] }, { "flops", &c->flops },
		{ "loader", &c->loader } };

	for (size_t i = 0; i < sizeof(value) / sizeof(value[0]); i++)
		if (strcmp(value[i].name, what) == 0)
			return value[i].to;
	return NULL;
}

/* Add row ${i}. */
static int
step_profile_row(struct step_profile *p, const struct table *t, size_t i)
{
	struct bench_shape s;
	const char *what = step_profile_split(p, table_text(t, i, "name"), &s);
	struct step_cell *c;
	double v, *to;

	if (what == NULL)
		return 0;
	if (table_real(t, i, "median", 0, 1e18, &v) != 0)
		return -1;
	c = step_profile_find(p, &s);
	if ((to = step_profile_value(c, what)) != NULL)
		*to = v;
	if (strcmp(what, "step") == 0)
		return table_real(t, i, "min", 0, 1e9, &c->step[STEP_MIN]) ||
		    table_real(t, i, "p99", 0, 1e9, &c->step[STEP_P99]) ? -1 :
		    0;
	if (text_starts(what, GRADIENT) || text_starts(what, STATISTIC)) {
		c->gradient = array_reserve(c->gradient, c->gradients, &c->cap,
		    sizeof(*c->gradient));
		c->gradient[c->gradients++] = (struct step_gradient){
			(size_t)(v / sizeof(float)), -1 };
		if (text_starts(what, GRADIENT))
			c->parameters += (size_t)(v / sizeof(float));
	} else if (text_starts(what, READY)) {
		if (c->gradients == 0 || c->gradient[c->gradients - 1].ready >=
		    0)
			return fail("%s:%d: a ready row without its gradient "
			    "or statistic row", t->path, t->line[i]);
		c->gradient[c->gradients - 1].ready = v;
	}
	return 0;
}

/* Check that cell ${c} is complete. */
static int
step_profile_check(struct step_profile *p, const struct step_cell *c)
{
	size_t elements = 0;
	char text[40];
	int whole = c->forward >= 0 && c->backward >= 0 && c->update >= 0 &&
	    c->step[STEP_MEDIAN] > 0 && c->step[STEP_P90] > 0;

	for (size_t i = 0; i < c->gradients; i++) {
		elements += c->gradient[i].elements;
		whole &= c->gradient[i].ready >= 0;
	}
	if (!whole || elements == 0)
		return fail("%s: the profile of %s lacks rows (wanted step, "
		    "step/p90, forward, backward, update, gradient and ready)",
		    p->path, shape_text(&c->shape, text));
	if (p->elements != 0 && p->elements != elements)
		return fail("%s: %zu gradients at %s, %zu before (wanted one "
		    "network)", p->path, elements, shape_text(&c->shape, text),
		    p->elements);
	p->elements = elements;
	p->parameters = c->parameters;
	return 0;
}

struct step_profile *
step_profile_read(const char *path)
{
	struct step_profile *p = xcalloc(1, sizeof(*p));
	struct table *t = table_read(path);
	int bad = t == NULL;

	p->path = xstrdup(path);
	if (!bad && table_column(t, "name") < 0)
		bad = fail("%s: no column name (wanted a table of vt-bench "
		    "profile)", path);
	for (size_t i = 0; !bad && i < t->rows; i++)
		bad = step_profile_row(p, t, i);
	for (size_t i = 0; !bad && i < p->cells; i++)
		bad = step_profile_check(p, &p->cell[i]);
	if (!bad && p->cells == 0)
		bad = fail("%s: no rows profile/NET/BxTxS/... (wanted a table "
		    "of vt-bench profile)", path);
	table_free(t);
	if (!bad)
		return p;
	step_profile_free(p);
	return NULL;
}

void
step_profile_free(struct step_profile *p)
{
	if (p == NULL)
		return;
	for (size_t i = 0; i < p->cells; i++)
		free(p->cell[i].gradient);
	free(p->cell);
	free(p->path);
	free(p);
}

struct step_cell *
step_profile_cell(struct step_profile *p, const struct bench_shape *s)
{
	char text[40];

	for (size_t i = 0; i < p->cells; i++)
		if (memcmp(&p->cell[i].shape, s, sizeof(*s)) == 0)
			return &p->cell[i];
	fail("%s: no profile of %s: measure it by vt-bench profile", p->path,
	    shape_text(s, text));
	return NULL;
}
