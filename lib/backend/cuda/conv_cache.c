/* The algorithm cache of convolutions: in memory, and as a text table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/conv_select.h"
#include "backend/cuda/cuda.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"

/*
 * A row of the table.  ALGORITHMS_MEASURED may have rows of other versions and
 * devices.
 */
struct conv_cache_row {
	int64_t version;
	char *device;
	char key[CONV_KEY];
	struct engine_config choice;
};

struct conv_cache_list { struct conv_cache_row *row; size_t n, cap; };

struct conv_cache {
	int64_t version;
	char *device;
	struct conv_cache_list list[CHOICES_KINDS];
};

struct conv_cache *
conv_cache_new(size_t version, const char *device)
{
	struct conv_cache *c = xcalloc(1, sizeof(*c));

	c->version = (int64_t)version;
	c->device = xstrdup(device);
	return c;
}

void
conv_cache_free(struct conv_cache *c)
{
	if (c == NULL)
		return;
	for (int i = 0; i < CHOICES_KINDS; i++) {
		for (size_t k = 0; k < c->list[i].n; k++)
			free(c->list[i].row[k].device);
		free(c->list[i].row);
	}
	free(c->device);
	free(c);
}

static struct conv_cache_row *
conv_cache_find_row(const struct conv_cache_list *l, int64_t version,
    const char *device, const char *key)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->row[i].version == version &&
		    strcmp(l->row[i].key, key) == 0 &&
		    strcmp(l->row[i].device, device) == 0)
			return &l->row[i];
	return NULL;
}

const struct engine_config *
conv_cache_find(const struct conv_cache *c, enum choices_kind which,
    const char *key)
{
	const struct conv_cache_row *r = conv_cache_find_row(&c->list[which],
	    c->version, c->device, key);

	return r != NULL ? &r->choice : NULL;
}

/*
 * Add a row.  An existing row of the same key is replaced in its place, which
 * keeps the order of the table.
 */
static void
conv_cache_add_row(struct conv_cache_list *l, int64_t version,
    const char *device, const char *key, const struct engine_config *v)
{
	struct conv_cache_row *r = conv_cache_find_row(l, version, device, key);

	if (r == NULL) {
		l->row = array_reserve(l->row, l->n, &l->cap, sizeof(*l->row));
		r = &l->row[l->n++];
		r->version = version;
		r->device = xstrdup(device);
		snprintf(r->key, sizeof(r->key), "%s", key);
	}
	r->choice = *v;
}

void
conv_cache_add(struct conv_cache *c, enum choices_kind which, const char *key,
    const struct engine_config *v)
{
	conv_cache_add_row(&c->list[which], c->version, c->device, key, v);
}

/* ---- from text: knobs are "knob=value,knob=value" ---- */

/* Parse the knobs of ${text}.  Return 0, or -1 without a message. */
static int
conv_cache_read_knobs(const char *text, struct engine_config *c)
{
	char *end;

	c->knobs = 0;
	if (strcmp(text, "-") == 0)
		return 0;
	for (;; text = end + 1) {
		if (c->knobs == CONV_KNOBS)
			return -1;
		c->knob[c->knobs] = strtoll(text, &end, 10);
		if (end == text || *end != '=')
			return -1;
		text = end + 1;
		c->value[c->knobs++] = strtoll(text, &end, 10);
		if (end == text || (*end != ',' && *end != '\0'))
			return -1;
		if (*end == '\0')
			return 0;
	}
}

/*
 * Add row ${i} of ${t}.  Return 1 if it was added or has no engine, 0 if it is
 * for another cuDNN or device, or -1 after a message.
 */
static int
conv_cache_take_row(struct conv_cache *c, enum choices_kind which,
    const struct table *t, size_t i)
{
	struct engine_config v = { 0 };
	const char *key, *device, *engine, *knobs;
	int64_t version;

	if (table_int(t, i, "cudnn", 0, INT32_MAX, &version) != 0 ||
	    (device = table_text(t, i, "device")) == NULL ||
	    (key = table_text(t, i, "convolution")) == NULL ||
	    (engine = table_text(t, i, "engine")) == NULL)
		return -1;
	if (strcmp(engine, "-") == 0)
		return 1;
	if (table_int(t, i, "engine", 0, INT32_MAX, &v.engine) != 0 ||
	    (knobs = table_text(t, i, "knobs")) == NULL ||
	    table_real(t, i, "seconds", 0, 1e6, &v.seconds) != 0)
		return -1;
	if (conv_cache_read_knobs(knobs, &v) != 0)
		return error_set(t->why, "%s: line %d: %s is not a list of at "
		    "most %d knobs, KNOB=VALUE,...", t->path, t->line[i],
		    text_quote(knobs), CONV_KNOBS);
	if (strlen(key) >= CONV_KEY)
		return error_set(t->why, "%s: line %d: %s is not a "
		    "convolution", t->path, t->line[i], text_quote(key));
	if (which == ALGORITHMS_SELECTED && (version != c->version ||
	    strcmp(device, c->device) != 0))
		return 0;
	conv_cache_add_row(&c->list[which], version, device, key, &v);
	return 1;
}

int
conv_cache_read(struct conv_cache *c, enum choices_kind which, const char *what,
    const char *text, struct error *e)
{
	struct table *t = table_try(what, text, e);
	size_t taken = 0, rows = t != NULL ? t->rows : 0;
	int got = t == NULL ? -1 : 0;

	for (size_t i = 0; got >= 0 && i < rows; i++) {
		got = conv_cache_take_row(c, which, t, i);
		taken += got > 0;
	}
	table_free(t);
	if (got >= 0 && which == ALGORITHMS_SELECTED && taken < rows)
		note("%s: %zu of its %zu choices are not for cuDNN %lld on %s: "
		    "these are selected again", what, rows - taken, rows,
		    (long long)c->version, c->device);
	return got < 0 ? -1 : 0;
}

/* ---- to text ---- */

static void
conv_cache_put_row(struct buffer *b, const struct conv_cache_row *r)
{
	const struct engine_config *v = &r->choice;

	buffer_printf(b, "%lld", (long long)r->version);
	table_put(b, r->device);
	buffer_printf(b, "\t%s\t%lld\t", r->key, (long long)v->engine);
	for (int i = 0; i < v->knobs; i++)
		buffer_printf(b, "%s%lld=%lld", i > 0 ? "," : "",
		    (long long)v->knob[i], (long long)v->value[i]);
	buffer_printf(b, "%s\t%.9g\n", v->knobs > 0 ? "" : "-", v->seconds);
}

char *
conv_cache_text(const struct conv_cache *c, enum choices_kind which)
{
	const struct conv_cache_list *made = &c->list[ALGORITHMS_SELECTED];
	const struct conv_cache_list *l = &c->list[which];
	struct buffer b = { 0 };

	buffer_text(&b, "#cudnn\tdevice\tconvolution\tengine\tknobs\t"
	    "seconds\n");
	for (size_t i = 0; i < l->n; i++)
		conv_cache_put_row(&b, &l->row[i]);
	/*
	 * Also measured selections of this run, if the list has no row for
	 * them.
	 */
	for (size_t i = 0; i < made->n && which == ALGORITHMS_MEASURED; i++) {
		const struct conv_cache_row *r = &made->row[i];

		if (r->choice.seconds > 0 && conv_cache_find_row(l, r->version,
		    r->device, r->key) == NULL)
			conv_cache_put_row(&b, r);
	}
	return b.data;
}

/* ---- functions of the back end ---- */

static char *
cuda_choices(struct device *d, enum choices_kind which)
{
	return conv_cache_text(((struct cuda *)d)->driver->algorithms->choices,
	    which);
}

static int
cuda_choose(struct device *d, enum choices_kind which, const char *what,
    const char *text, struct error *e)
{
	return conv_cache_read(((struct cuda *)d)->driver->algorithms->choices,
	    which, what, text, e);
}

static void
cuda_tune(struct device *d, int measures)
{
	struct conv_algorithms *w = ((struct cuda *)d)->driver->algorithms;

	/* Without a device nothing can be timed. */
	w->measures = measures && w->seconds != NULL;
}

const struct tuning_ops cuda_tuning = {
	.choices = cuda_choices, .choose = cuda_choose, .tune = cuda_tune,
};
