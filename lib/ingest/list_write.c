/* Write a list as CSV; list_read.c and list_cells.c read it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "ingest/list_format.h"
#include "ingest/list_write.h"

#define Q text_quote

/* The optional columns of a list. */
struct list_columns {
	int sets, times, frames, split, name, claimed;
	const char *group;
};

static struct list_columns
list_write_columns(const struct list *l, const char *group)
{
	struct list_columns c = { .group = group };

	for (size_t i = 0; i < l->n; i++) {
		const struct list_row *r = &l->row[i];

		c.sets |= r->has_set;
		c.times |= r->part.unit == LIST_SECONDS;
		c.frames |= r->part.unit == LIST_FRAMES;
		c.split |= r->split != NULL;
		c.name |= r->name != NULL;
		c.claimed |= r->part.frames > 0;
	}
	return c;
}

/* Write ${text} in quotes if it has a character of ${marks} or a quote. */
static void
list_write_quoted(const char *text, const char *marks, struct buffer *to)
{
	if (strpbrk(text, marks) == NULL && strchr(text, '"') == NULL) {
		buffer_text(to, text);
		return;
	}
	buffer_text(to, "\"");
	for (; *text != '\0'; text++)
		buffer_printf(to, *text == '"' ? "\"\"" : "%c", *text);
	buffer_text(to, "\"");
}

/* Write a cell, "" if ${text} is NULL. */
static int
list_write_text(const struct list_row *r, const char *text, struct buffer *to)
{
	size_t n = text != NULL ? strlen(text) : 0;

	if (n == 0)
		return 0;
	if (strpbrk(text, "\r\n") != NULL)
		return fail("%s%s: a line end, which a list cannot hold "
		    "(wanted another name)", list_at(r), Q(text));
	/* Quotes keep blanks at the ends of a cell. */
	list_write_quoted(text, strchr(" \t", text[0]) != NULL ||
	    strchr(" \t", text[n - 1]) != NULL ? ", \t" : ",", to);
	return 0;
}

/* Return the class as written in the CSV, whose numbers begin at 0.  The caller
 * frees it. */
static char *
list_write_class(const struct list_row *r, const struct list_label *k)
{
	int64_t number;

	if (r->base == 0 || text_int(k->text, r->base, INT32_MAX, &number) != 0)
		return xstrdup(k->text);
	return xprintf("%lld", (long long)(number - r->base));
}

/* Add a class of a set and its interval. */
static void
list_write_interval(const struct list *l, const struct list_label *k,
    struct buffer *to)
{
	const char *mark = k->unit == LIST_FRAMES ? "f" : "";
	const char *last = strrchr(k->text, ' ');
	char from[40], end[40];
	int64_t code;
	double time;

	int special = strcmp(k->text, "none") == 0 || *k->text == ' ' ||
	    list_code_class(k->text, &code) == 0 || (last != NULL &&
	    (last[1] == '\0' || text_real(last + 1 + (last[1] == 'f'),
	    -1e6, 1e6, &time) == 0));

	if (l->coded > 0 && text_int(k->text, 0, l->coded, &code) == 0)
		buffer_printf(to, "c%03lld", (long long)code);
	else
		list_write_quoted(k->text, special ? k->text : ";", to);
	if (k->unit != LIST_ALWAYS)
		buffer_printf(to, " %s%s %s%s", mark,
		    text_real_write(from, k->from), mark,
		    text_real_write(end, k->to));
}

/*
 * Write the classes of ${r} in column ${column}: two cells, label and
 * label_set, if ${sets} is 1, of which one is empty, otherwise one.
 */
static int
list_write_labels(const struct list *l, const struct list_row *r, int column,
    int sets, struct buffer *to)
{
	struct buffer b = { 0 };
	int result = 0;

	if (r->has_set && r->nlabels == 0 && column == 0)
		buffer_text(&b, "none");
	for (int i = 0; i < r->nlabels; i++) {
		const struct list_label *k = &r->label[i];
		char *class = list_write_class(r, k);

		if (k->column == column && b.n > 0)
			buffer_text(&b, ";");
		if (k->column == column && r->has_set)
			list_write_interval(l, k, &b);
		else if (k->column == column)
			buffer_text(&b, class);
		free(class);
	}
	buffer_text(to, r->has_set ? ",," : ",");
	result = list_write_text(r, b.data, to);
	buffer_text(to, sets && !r->has_set ? "," : "");
	buffer_free(&b);
	return result;
}

/* Write two cells, begin and end of the part if it has this unit. */
static void
list_write_part(const struct list_row *r, enum list_unit unit,
    struct buffer *to)
{
	const struct list_part *p = &r->part;
	char text[40];

	/* The first frame makes the frames a part of the key. */
	buffer_printf(to, ",%s", p->unit == unit && (unit == LIST_SECONDS ||
	    r->part_in_key) ? text_real_write(text, p->begin) : "");
	buffer_printf(to, ",%s", p->unit == unit && p->end > 0 ?
	    text_real_write(text, p->end) : "");
}

static int
list_write_row(const struct list *l, const struct list_row *r,
    const struct list_columns *c, const char *root, struct buffer *to)
{
	const char *rest[] = { r->name,
		c->group != NULL ? r->group : NULL, r->split };
	const int has[] = { c->name, c->group != NULL, c->split };

	if (list_write_text(r, root != NULL ? r->sample.source : r->path, to))
		return -1;
	for (int k = 0; k < l->columns || k == 0; k++)
		if (list_write_labels(l, r, k, c->sets, to) != 0)
			return -1;
	if (c->times)
		list_write_part(r, LIST_SECONDS, to);
	if (c->frames)
		list_write_part(r, LIST_FRAMES, to);
	if (c->claimed)
		buffer_text(to, ",");
	if (r->part.frames > 0)
		buffer_printf(to, "%lld", (long long)r->part.frames);
	for (int k = 0; k < 3; k++) {
		buffer_text(to, has[k] ? "," : "");
		if (list_write_text(r, rest[k], to) != 0)
			return -1;
	}
	buffer_text(to, "\n");
	return 0;
}

int
list_write(const struct list *l, const char *root, const char *group,
    struct buffer *to)
{
	const struct list_columns c = list_write_columns(l, group);
	const struct list_row none = { 0 };

	buffer_text(to, "path");
	for (int k = 0; k < l->columns || k == 0; k++)
		for (int set = 0; set <= c.sets; set++) {
			char *name = xprintf("label%s%s%s", set ? "_set" : "",
			    k > 0 ? ":" : "", k > 0 ? l->column[k] : "");
			int bad;

			buffer_text(to, ",");
			bad = list_write_text(&none, name, to);
			free(name);
			if (bad)
				return -1;
		}
	buffer_printf(to, "%s%s%s%s", c.times ? ",time_start,time_end" : "",
	    c.frames ? ",frame_start,frame_end" : "",
	    c.claimed ? ",claimed_frames" : "", c.name ? ",official_name" : "");
	buffer_text(to, group != NULL ? "," : "");
	if (list_write_text(&none, group, to) != 0)
		return -1;
	buffer_text(to, c.split ? ",split\n" : "\n");
	for (size_t i = 0; i < l->n; i++)
		if (list_write_row(l, &l->row[i], &c, root, to) != 0)
			return -1;
	return 0;
}
