/* Write a list as CSV; list_read.c and list_cells.c read it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "ingest/list_write.h"

#define Q text_quote

/* The optional columns of a list. */
struct list_columns { int set, times, frames, subset; const char *group; };

static struct list_columns
list_write_columns(const struct list *l, const char *group)
{
	struct list_columns c = { .group = group };

	for (size_t i = 0; i < l->n; i++) {
		const struct list_row *r = &l->row[i];

		c.set |= r->has_set;
		c.times |= r->part.start > 0 || r->part.end > 0;
		c.frames |= r->part.count > 0;
		c.subset |= r->subset != NULL;
	}
	return c;
}

static int
list_write_text(const struct list_row *r, const char *text, struct buffer *to)
{
	if (strpbrk(text, "\r\n") != NULL)
		return fail("%s%s: a line end, which a list cannot hold "
		    "(wanted another name)", list_at(r), Q(text));
	if (strpbrk(text, ",\"") == NULL) {
		buffer_text(to, text);
		return 0;
	}
	buffer_text(to, "\"");
	for (; *text != '\0'; text++)
		buffer_printf(to, *text == '"' ? "\"\"" : "%c", *text);
	buffer_text(to, "\"");
	return 0;
}

/* Numbers of a CSV begin at 0. */
static int
list_write_label(const struct list_row *r, struct buffer *to)
{
	int64_t number;

	if (r->has_set || r->nlabels == 0)
		return 0;
	if (r->base == 0 || text_int(r->label->text, r->base, INT32_MAX,
	    &number) != 0)
		return list_write_text(r, r->label->text, to);
	buffer_printf(to, "%lld", (long long)(number - r->base));
	return 0;
}

static void
list_write_set(const struct list *l, const struct list_row *r,
    struct buffer *to)
{
	char from[40], end[40];
	int64_t code;

	if (r->has_set && r->nlabels == 0)
		buffer_text(to, "none");
	for (int k = 0; k < r->nlabels && r->has_set; k++) {
		const struct list_label *s = &r->label[k];
		const char *mark = s->unit == LIST_FRAMES ? "f" : "";

		buffer_text(to, k > 0 ? ";" : "");
		if (l->coded > 0 && text_int(s->text, 0, l->coded, &code) == 0)
			buffer_printf(to, "c%03lld", (long long)code);
		else
			buffer_text(to, s->text);
		if (s->unit != LIST_ALWAYS)
			buffer_printf(to, " %s%s %s%s", mark,
			    text_real_write(from, s->from), mark,
			    text_real_write(end, s->to));
	}
}

/* Write two cells: the times of a part, each if it has it. */
static void
list_write_times(const struct list_part *p, struct buffer *to)
{
	char text[40];

	buffer_printf(to, ",%s", p->start > 0 || p->end > 0 ?
	    text_real_write(text, p->start) : "");
	buffer_printf(to, ",%s", p->end > 0 ? text_real_write(text, p->end) :
	    "");
}

static void
list_write_frames(const struct list_row *r, struct buffer *to)
{
	const struct list_part *p = &r->part;

	if (p->count == 0) {
		buffer_text(to, ",,");
		return;
	}
	/* The start makes the frames a part of the key. */
	if (r->suffix != NULL || p->first > 0)
		buffer_printf(to, ",%lld", (long long)p->first);
	else
		buffer_text(to, ",");
	buffer_printf(to, ",%lld", (long long)(p->first + p->count));
}

static int
list_write_row(const struct list *l, const struct list_row *r,
    const struct list_columns *c, const char *root, struct buffer *to)
{
	if (list_write_text(r, root != NULL ? r->sample.source : r->path, to))
		return -1;
	buffer_text(to, ",");
	if (list_write_label(r, to) != 0)
		return -1;
	if (c->set) {
		buffer_text(to, ",");
		list_write_set(l, r, to);
	}
	if (c->times)
		list_write_times(&r->part, to);
	if (c->frames)
		list_write_frames(r, to);
	if (c->group != NULL) {
		buffer_text(to, ",");
		if (list_write_text(r, r->group != NULL ? r->group : "", to))
			return -1;
	}
	if (c->subset)
		buffer_printf(to, ",%s", r->subset);
	buffer_text(to, "\n");
	return 0;
}

int
list_write(const struct list *l, const char *root, const char *group,
    struct buffer *to)
{
	const struct list_columns c = list_write_columns(l, group);

	buffer_printf(to, "path,label%s%s%s", c.set ? ",label_set" : "",
	    c.times ? ",time_start,time_end" : "",
	    c.frames ? ",frame_start,frame_end" : "");
	if (group != NULL) {
		buffer_text(to, ",");
		if (list_write_text(&(struct list_row){ 0 }, group, to) != 0)
			return -1;
	}
	buffer_text(to, c.subset ? ",split\n" : "\n");
	for (size_t i = 0; i < l->n; i++)
		if (list_write_row(l, &l->row[i], &c, root, to) != 0)
			return -1;
	return 0;
}
