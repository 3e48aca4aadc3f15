/* Plans that were chosen, as a table: in memory and as text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cudnn_plan.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"

struct row { char key[KEY]; struct choice choice; };

struct choices {
	size_t n, room;
	struct row *row;
};

struct choices *
choices_new(void)
{
	return xcalloc(1, sizeof(struct choices));
}

void
choices_free(struct choices *c)
{
	if (c != NULL)
		free(c->row);
	free(c);
}

static struct row *
find(const struct choices *c, const char *key)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->row[i].key, key) == 0)
			return &c->row[i];
	return NULL;
}

const struct choice *
choices_find(const struct choices *c, const char *key)
{
	const struct row *r = find(c, key);

	return r != NULL ? &r->choice : NULL;
}

void
choices_add(struct choices *c, const char *key, const struct choice *v)
{
	struct row *r = find(c, key);

	if (r == NULL) {
		if (c->n == c->room) {
			c->room = c->room > 0 ? 2 * c->room : 64;
			c->row = xrealloc(c->row, c->room, sizeof(*c->row));
		}
		r = &c->row[c->n++];
		snprintf(r->key, sizeof(r->key), "%s", key);
	}
	r->choice = *v;
}

/* ---- text: "knob=value,knob=value" ---- */

static int
read_knobs(const char *text, struct choice *c)
{
	char *end;

	c->knobs = 0;
	if (strcmp(text, "-") == 0)
		return 0;
	for (;; text = end + 1) {
		if (c->knobs == KNOBS)
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

static int
read_row(struct choices *c, const struct table *t, size_t i, size_t version,
    const char *device)
{
	struct choice v = { 0 };
	const char *key, *name, *knobs;
	int64_t library;

	if (table_int(t, i, "cudnn", 0, INT32_MAX, &library) != 0 ||
	    (name = table_text(t, i, "device")) == NULL ||
	    (key = table_text(t, i, "convolution")) == NULL ||
	    table_int(t, i, "engine", 0, INT32_MAX, &v.engine) != 0 ||
	    (knobs = table_text(t, i, "knobs")) == NULL ||
	    table_real(t, i, "seconds", 0, 1e6, &v.seconds) != 0)
		return -1;
	if (strlen(key) >= KEY || read_knobs(knobs, &v) != 0)
		return fail("%s: line %d: %s is not a list of at most %d knobs, "
		    "KNOB=VALUE,...", t->path, t->line[i], text_quote(knobs),
		    KNOBS);
	if ((size_t)library == version && strcmp(name, device) == 0)
		choices_add(c, key, &v);
	return 0;
}

int
choices_read(struct choices *c, const char *path, size_t version,
    const char *device)
{
	struct table *t = table_read(path);
	int bad = t == NULL ? -1 : 0;

	for (size_t i = 0; bad == 0 && i < t->rows; i++)
		bad = read_row(c, t, i, version, device);
	table_free(t);
	return bad;
}

static void
say(struct commit *f, const char *text)
{
	commit_write(f, text, strlen(text));
}

static void
write_row(struct commit *f, const struct row *r, size_t version,
    const char *device)
{
	const struct choice *v = &r->choice;
	char *name = table_escape(device), text[2 * KEY + 512];

	snprintf(text, sizeof(text), "%zu\t%s\t%s\t%lld\t", version, name,
	    r->key, (long long)v->engine);
	say(f, text);
	for (int i = 0; i < v->knobs; i++) {
		snprintf(text, sizeof(text), "%s%lld=%lld", i > 0 ? "," : "",
		    (long long)v->knob[i], (long long)v->value[i]);
		say(f, text);
	}
	snprintf(text, sizeof(text), "%s\t%.9g\n", v->knobs > 0 ? "" : "-",
	    v->seconds);
	say(f, text);
	free(name);
}

int
choices_write(const struct choices *c, const char *path, size_t version,
    const char *device)
{
	struct commit *f = commit_open(path);

	if (f == NULL)
		return -1;
	say(f, "#cudnn\tdevice\tconvolution\tengine\tknobs\tseconds\n");
	for (size_t i = 0; i < c->n; i++)
		write_row(f, &c->row[i], version, device);
	return commit_done(f);
}
