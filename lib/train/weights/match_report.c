/* The report of a match, as notes and as a table. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/table.h"
#include "base/text.h"
#include "train/weights/match.h"

static const char *const fates[] = {
	[LOAD_INITIALIZED] = "new", [LOAD_COPIED] = "loaded",
	[LOAD_CONVERTED] = "reshaped"
};

/* names in a message */
enum { SHOWN = 6 };

void
match_add_name(struct buffer *b, size_t *n, const char *name, const char *why)
{
	if (++*n > SHOWN)
		return;
	buffer_printf(b, "%s%s", *n > 1 ? ", " : "", text_quote(name));
	if (*why != '\0')
		buffer_printf(b, " (%s)", why);
}

void
match_end_names(struct buffer *b, size_t n)
{
	if (n > SHOWN)
		buffer_printf(b, " and %zu more", n - SHOWN);
}

static void
match_report_names(const char *path, const char *what, struct buffer *b,
    size_t n)
{
	match_end_names(b, n);
	if (n > 0)
		note("%s: %s: %s", path, what, b->data);
	buffer_free(b);
}

void
match_report(const struct match *m, const char *path)
{
	static const char *const heads[] = { [LOAD_INITIALIZED] = "initialized",
		[LOAD_CONVERTED] = "reshaped" };
	const char *quoted = text_quote(path);
	size_t count[3] = { 0 }, left = 0;
	struct buffer b = { 0 };
	char *file = xstrdup(quoted);

	for (int i = 0; i < m->graph->nparam; i++)
		count[m->param[i].status]++;
	note("%s: %s, names of %s: %zu of %d parameters loaded, %zu reshaped, "
	    "%zu initialized; %.1f %% of the backbone", file,
	    m->weights->container, m->names, count[LOAD_COPIED],
	    m->graph->nparam, count[LOAD_CONVERTED], count[LOAD_INITIALIZED],
	    m->of > 0 ? 100.0 * (double)m->elements / (double)m->of : 0.0);
	for (int fate = LOAD_CONVERTED; fate >= LOAD_INITIALIZED;
	    fate -= LOAD_CONVERTED) {
		size_t n = 0;

		for (int i = 0; i < m->graph->nparam; i++)
			if ((int)m->param[i].status == fate)
				match_add_name(&b, &n, m->graph->param[i].name,
				    m->param[i].why);
		match_report_names(file, heads[fate], &b, n);
	}
	/*
	 * Counters of batches are in every file, and state of training is in
	 * every checkpoint of vt: do not list them.
	 */
	for (size_t i = 0; i < m->weights->tensors; i++)
		if (m->left[i] != NULL && strcmp(m->left[i],
		    "a counter") != 0 && strcmp(m->left[i], "a state of "
		    "training") != 0)
			match_add_name(&b, &left, m->weights->tensor[i].name,
			    m->left[i]);
	match_report_names(file, "left out", &b, left);
	free(file);
}

static void
match_add_row(struct buffer *b, const char *ours, const char *fate,
    const char *theirs, const char *why)
{
	const char *const cell[] = { ours, fate, theirs, why };

	for (int i = 0; i < 4; i++)
		table_put(b, *cell[i] != '\0' ? cell[i] : "-");
	buffer_text(b, "\n");
}

void
match_table(const struct match *m, struct buffer *b)
{
	buffer_text(b, "#parameter\tfate\ttensor\twhy\n");
	for (int i = 0; i < m->graph->nparam; i++) {
		const struct matched *p = &m->param[i];

		match_add_row(b, m->graph->param[i].name, fates[p->status],
		    p->status == LOAD_INITIALIZED ? "-" :
		    m->weights->tensor[p->tensor].name, p->why);
	}
	for (size_t i = 0; i < m->weights->tensors; i++)
		if (m->left[i] != NULL)
			match_add_row(b, "-", "left out",
			    m->weights->tensor[i].name, m->left[i]);
}
