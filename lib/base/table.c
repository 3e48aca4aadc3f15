/* Reader and writer of tab-separated tables with a header line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"

int
table_unescape(char *s)
{
	char *to = s;

	for (; *s != '\0'; s++) {
		if (*s != '\\') {
			*to++ = *s;
			continue;
		}
		switch (*++s) {
		case 't': *to++ = '\t'; break;
		case 'n': *to++ = '\n'; break;
		case 'r': *to++ = '\r'; break;
		case '\\': *to++ = '\\'; break;
		default: return -1;
		}
	}
	*to = '\0';
	return 0;
}

void
table_put(struct buffer *b, const char *text)
{
	buffer_text(b, b->n > 0 && b->data[b->n - 1] != '\n' ? "\t" : "");
	for (; *text != '\0'; text++) {
		const char *special = "\t\n\r\\", *at = strchr(special, *text);

		if (at != NULL)
			buffer_printf(b, "\\%c", "tnr\\"[at - special]);
		else
			buffer_add(b, text, 1);
	}
}

/* Split ${line} at its tabs in place, and trim the cells unless ${exact}.
 * Return their number and set ${*cell} to an array of their starts, which the
 * caller frees. */
static size_t
table_split(char *line, int exact, char ***cell)
{
	size_t n = 0, cap = 0;
	char *s;

	*cell = NULL;
	while ((s = strsep(&line, "\t")) != NULL) {
		*cell = array_reserve(*cell, n, &cap, sizeof(**cell));
		(*cell)[n++] = exact ? s : text_trim(s);
	}
	return n;
}

/* Add the row even if an escape is invalid: then table_free frees its cells. */
static int
table_add_row(struct table *t, char *line, int number, int exact, size_t *cap)
{
	char **cell;
	size_t n = table_split(line, exact, &cell);
	int bad = 0;

	if (n != t->columns) {
		free(cell);
		return error_set(t->why, "%s:%d: %zu cells (wanted %zu, as in "
		    "the header)", t->path, number, n, t->columns);
	}
	for (size_t i = 0; i < n; i++)
		if (table_unescape(cell[i]) != 0)
			bad = error_set(t->why, "%s:%d: column %s: unknown "
			    "escape (wanted \\t, \\n, \\r or \\\\)", t->path,
			    number, t->name[i]);
	/* Both arrays have the same capacity. */
	if (t->rows == *cap) {
		size_t capacity = *cap;

		t->cell = array_reserve(t->cell, t->rows, &capacity,
		    sizeof(*t->cell));
		t->line = array_reserve(t->line, t->rows, cap,
		    sizeof(*t->line));
	}
	t->cell[t->rows] = cell;
	t->line[t->rows++] = number;
	return bad;
}

static int
table_by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Set the column names from the header line.  Sort a copy to find duplicates,
 * unless ${exact}. */
static int
table_set_header(struct table *t, char *line, int number, int exact)
{
	char **sorted;
	int bad = 0;

	t->columns = table_split(line, exact, &t->name);
	t->header = number;
	if (exact)
		return 0;
	sorted = xcalloc(t->columns, sizeof(*sorted));
	memcpy(sorted, t->name, t->columns * sizeof(*sorted));
	qsort(sorted, t->columns, sizeof(*sorted), table_by_text);
	for (size_t i = 1; i < t->columns && !bad; i++)
		if (strcmp(sorted[i - 1], sorted[i]) == 0)
			bad = error_set(t->why, "%s:%d: two columns are called "
			    "%s", t->path, number, text_quote(sorted[i]));
	free(sorted);
	return bad;
}

/* Make a table from ${text}, which becomes its own. */
static struct table *
table_make(const char *what, char *text, int exact, struct error *e)
{
	struct table *t = xcalloc(1, sizeof(*t));
	char *next = t->text = text, *line;
	size_t cap = 0, comments = 0;
	int number = 0, bad = 0;

	t->path = xstrdup(what);
	t->why = e;
	while (!bad && (line = strsep(&next, "\n")) != NULL) {
		number++;
		/* Accept lines that end in \r\n, as other systems write
		 * them. */
		if (text_chomp(line) != 0) {
			bad = error_set(e, "%s:%d: a carriage return within "
			    "the line", t->path, number);
		} else if (line[strspn(line, " ")] == '\0') {
			continue;
		} else if (*line == '#' && (t->name != NULL || line[1] == ' ' ||
		    line[1] == '\0')) {
			t->comment = array_reserve(t->comment, t->comments,
			    &comments, sizeof(*t->comment));
			t->comment[t->comments++] = (struct table_comment){
				line, number };
		} else if (t->name == NULL) {
			bad = table_set_header(t, line + (*line == '#'),
			    number, exact);
		} else {
			bad = table_add_row(t, line, number, exact, &cap);
		}
	}
	if (!bad && t->name == NULL)
		bad = error_set(e, "%s: empty (wanted a table with a header "
		    "line)", what);
	if (bad) {
		table_free(t);
		return NULL;
	}
	return t;
}

struct table *
table_parse(const char *what, const char *text)
{
	return table_make(what, xstrdup(text), 0, NULL);
}

struct table *
table_try(const char *what, const char *text, struct error *e)
{
	return table_make(what, xstrdup(text), 0, e);
}

struct table *
table_take(const char *what, char *text)
{
	return table_make(what, text, 1, NULL);
}

/* A zero byte would end the text early, so file_read_text refuses it. */
struct table *
table_read(const char *path)
{
	struct buffer b = { 0 };

	if (file_read_text(path, &b) == 0)
		return table_make(strcmp(path, "-") == 0 ? "standard input" :
		    text_quote(path), b.data, 0, NULL);
	buffer_free(&b);
	return NULL;
}

void
table_free(struct table *t)
{
	if (t == NULL)
		return;
	for (size_t r = 0; r < t->rows; r++)
		free(t->cell[r]);
	free(t->name);
	free(t->comment);
	free(t->text);
	free(t->cell);
	free(t->line);
	free(t->path);
	free(t);
}

int
table_column(const struct table *t, const char *name)
{
	for (size_t c = 0; c < t->columns; c++)
		if (strcmp(t->name[c], name) == 0)
			return (int)c;
	return -1;
}

const char *
table_text(const struct table *t, size_t row, const char *name)
{
	int c = table_column(t, name);

	if (c < 0) {
		error_set(t->why, "%s: no column %s%s", t->path, name,
		    t->columns > 1 ? "" : " (wanted columns separated by "
		    "tabs)");
		return NULL;
	}
	return t->cell[row][c];
}

int
table_int(const struct table *t, size_t row, const char *name, int64_t min,
    int64_t max, int64_t *to)
{
	const char *s = table_text(t, row, name);

	if (s == NULL)
		return -1;
	if (text_int(s, min, max, to) != 0)
		return error_set(t->why, "%s:%d: column %s: %s (wanted an "
		    "integer from %lld to %lld)", t->path, t->line[row], name,
		    text_quote(s), (long long)min, (long long)max);
	return 0;
}

int
table_real(const struct table *t, size_t row, const char *name, double min,
    double max, double *to)
{
	const char *s = table_text(t, row, name);

	if (s == NULL)
		return -1;
	if (text_real(s, min, max, to) != 0)
		return error_set(t->why, "%s:%d: column %s: %s (wanted a "
		    "number from %g to %g)", t->path, t->line[row], name,
		    text_quote(s), min, max);
	return 0;
}
