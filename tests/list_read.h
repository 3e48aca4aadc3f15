#ifndef LIST_READ_H
#define LIST_READ_H

/* Read lists in a folder of the test, and compare their rows and messages. */

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "ingest/list_format.h"
#include "said.h"
#include "tap.h"

static char dir[] = "/tmp/vt-list.XXXXXX";
static char why[1024];
static struct list_how with;	/* further options of the checks below */

/*
 * Write ${n} bytes of ${text} to a file ${name} in the test's folder.  Return
 * its path, valid for three more calls.
 */
static inline const char *
put_bytes(const char *name, const char *text, size_t n)
{
	static char path[4][512];
	static int next;
	char *p = path[next++ % 4];
	FILE *f;

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	f = fopen(p, "w");
	if (f == NULL || fwrite(text, 1, n, f) != n || fclose(f) != 0)
		exit(1);
	return p;
}

static inline const char *
put(const char *name, const char *text)
{
	return put_bytes(name, text, strlen(text));
}

/*
 * Return "path+suffix|label[START,END](FIRST,COUNT)" of each row without the
 * absent parts; a set of classes is {text,text@from-to}.  Valid until the next
 * call.
 */
static inline const char *
rows(const struct list *l)
{
	static struct buffer b;

	b.n = 0;
	buffer_text(&b, "");
	for (size_t i = 0; i < l->n; i++) {
		const struct list_row *r = &l->row[i];
		const struct list_part *p = &r->part;
		char *suffix;

		buffer_printf(&b, "%s%s", i > 0 ? " " : "", r->path);
		suffix = list_part_suffix(r);
		buffer_printf(&b, "%s%s", *suffix != '\0' ? "+" : "", suffix);
		free(suffix);
		if (r->nlabels > 0 && !r->has_set)
			buffer_printf(&b, "|%s", r->label->text);
		if (p->unit == LIST_SECONDS)
			buffer_printf(&b, "[%g,%g]", p->begin, p->end);
		if (p->unit == LIST_FRAMES)
			buffer_printf(&b, "(%g,%g)", p->begin, p->end -
			    p->begin);
		for (int k = 0; r->has_set && k <= r->nlabels; k++) {
			const struct list_label *s = &r->label[k];

			buffer_text(&b, k == 0 ? "{" : k < r->nlabels ? "," : "");
			if (k == r->nlabels)
				buffer_text(&b, "}");
			else if (s->unit == LIST_ALWAYS)
				buffer_text(&b, s->text);
			else
				buffer_printf(&b, "%s@%g-%g", s->text, s->from,
				    s->to);
		}
	}
	return b.data;
}

/*
 * Check the rows of a list ${text} in a file ${name}, whose format is called
 * ${f}.  ${root} and ${subset} may be NULL.
 */
static inline void
check_read(const char *what, const char *name, const char *text, const char *f,
    const char *root, const char *subset, const char *want)
{
	struct list_how how = with;
	struct list l = { 0 };
	int r;

	how.format = text_choice(list_format_choices, f);
	how.root = root;
	how.subset = subset;
	said_begin(why, sizeof(why));
	r = list_read(&l, put(name, text), &how);
	said_end();
	is_text(r == 0 ? rows(&l) : why, want, what);
	list_free(&l);
}

static inline void
reads(const char *what, const char *text, const char *f, const char *want)
{
	check_read(what, "list", text, f, NULL, NULL, want);
}

static inline void
check_refused(const char *what, const char *name, const char *text,
    const char *f, const char *subset, const char *says)
{
	struct list_how how = with;
	struct list l = { 0 };
	int r;

	how.format = text_choice(list_format_choices, f);
	how.subset = subset;
	said_begin(why, sizeof(why));
	r = list_read(&l, put(name, text), &how);
	said_end();
	if (!ok(r == -1 && strstr(why, says) != NULL, "%s", what))
		diag("said: %s (wanted: %s)", why, says);
	list_free(&l);
}

static inline void
refuses(const char *what, const char *text, const char *f, const char *says)
{
	check_refused(what, "list", text, f, NULL, says);
}

#endif
