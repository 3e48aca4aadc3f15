/* Rows of lists, and lists that contain only paths. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_format.h"

void
list_cut(struct list *l, size_t n)
{
	for (size_t i = n; i < l->n; i++) {
		struct list_row *r = &l->row[i];

		for (int k = 0; k < r->nlabels; k++)
			free(r->label[k].text);
		free(r->label);
		free((void *)r->sample.key);
		free((void *)r->sample.source);
		free((void *)r->sample.labels);
		free(r->path);
		free(r->unit);
		free(r->name);
		free(r->split);
		free(r->tried);
		free(r->group);
	}
	l->n = n < l->n ? n : l->n;
}

size_t
list_keep_subset(struct list *l, size_t first, const char *subset)
{
	const size_t all = l->n;
	size_t n = first;

	for (size_t i = first; i < all; i++) {
		struct list_row r = l->row[i];

		if (r.split != NULL && strcmp(r.split, subset) == 0) {
			l->row[i] = l->row[n];
			l->row[n++] = r;
		}
	}
	list_cut(l, n);
	return all - n;
}

void
list_free(struct list *l)
{
	list_cut(l, 0);
	for (size_t i = 0; i < l->files; i++)
		free(l->file[i]);
	for (int i = 0; i < l->columns; i++)
		free(l->column[i]);
	free(l->column);
	free(l->file);
	free(l->row);
	*l = (struct list){ 0 };
}

struct list_row *
list_append(struct list *l, char *path, const char *file, int line)
{
	l->row = array_reserve(l->row, l->n, &l->cap, sizeof(*l->row));
	l->row[l->n] = (struct list_row){ .path = path, .file = file,
		.line = line };
	return &l->row[l->n++];
}

void
list_row_add(struct list_row *r, struct list_label label)
{
	r->label = xrealloc(r->label, (size_t)r->nlabels + 1,
	    sizeof(*r->label));
	r->label[r->nlabels++] = label;
}

void
list_row_label(struct list_row *r, const char *text)
{
	list_row_add(r, (struct list_label){ .text = xstrdup(text) });
}

void
list_row_interval(struct list_row *r, const char *text, enum list_unit unit,
    double from, double to)
{
	r->has_set = 1;
	list_row_add(r, (struct list_label){ xstrdup(text), 0, unit, from,
		to });
}

int
list_column_of_labels(struct list *l, const char *name)
{
	int i = 0;

	while (i < l->columns && strcmp(l->column[i], name) != 0)
		i++;
	if (i == l->columns) {
		l->column = xrealloc(l->column, (size_t)++l->columns,
		    sizeof(*l->column));
		l->column[i] = xstrdup(name);
	}
	return i;
}

int
list_one_column(const struct list *l)
{
	return l->columns < 2 ? 0 : fail("labels in the column %s (wanted one "
	    "column label; --print-list prints the list)",
	    text_quote(l->column[1]));
}

int
list_row_labeled(const struct list_row *r)
{
	return r->nlabels > 0 || r->has_set;
}

void
list_add(struct list *l, const char *path)
{
	list_append(l, xstrdup(path), NULL, 0);
}

const char *
list_name(struct list *l, const char *file)
{
	l->file = array_reserve(l->file, l->files, &l->files_cap,
	    sizeof(*l->file));
	return l->file[l->files++] = xstrdup(strcmp(file, "-") == 0 ?
	    "standard input" : text_quote(file));
}

const char *
list_at(const struct list_row *r)
{
	static _Thread_local char text[512];

	text[0] = '\0';
	if (r->file != NULL)
		snprintf(text, sizeof(text), "%s: %s %d: ", r->file,
		    r->item > 0 ? "item" : "line", r->item > 0 ? r->item :
		    r->line);
	return text;
}

/*
 * Return 1 if every line ends in CR LF, as some editors write it.  Then the CR
 * is not part of the path.  A CR in only some lines is.
 */
static int
list_has_returns(const char *text)
{
	int lines = 0;

	for (const char *s = text; (s = strchr(s, '\n')) != NULL; s++, lines++)
		if (s == text || s[-1] != '\r')
			return 0;
	return lines > 0;
}

int
list_read_paths(struct list *l, const char *file, int zero)
{
	const char *name = list_name(l, file);
	struct buffer b = { 0 };
	char end = zero ? '\0' : '\n', *p;
	int line = 0, returns, result = -1;

	if (zero ? file_read(file, &b) != 0 : list_foreign_read(file, name,
	    "lines of text; -0 reads such lists", &b) != 0 ||
	    list_foreign(name, b.data))
		goto out;
	returns = !zero && list_has_returns(b.data);
	p = b.data;
	for (char *next; p < b.data + b.n; p = next) {
		next = memchr(p, end, (size_t)(b.data + b.n - p));
		if (next == NULL)
			next = b.data + b.n;
		*next++ = '\0';
		line++;
		if (returns)
			text_chomp(p);
		if (*p != '\0')
			list_append(l, xstrdup(p), name, line);
	}
	result = 0;
out:
	buffer_free(&b);
	return result;
}
