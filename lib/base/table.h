#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/mem.h"

/*
 * Tables as text.  A row is a line of cells separated by tabs.  The header line
 * "#a\tb\tc" names the columns.  In a cell, a tab, newline, carriage return or
 * backslash is written \t, \n, \r or \\.  Blanks around a cell do not count.
 * Lines that begin with "# " are comments; the '#' of the header is followed by
 * no blank.
 *
 * Readers find columns by name, so columns can be added and moved.  A duplicate
 * column name, a carriage return within a line and a zero byte are errors.
 */
struct table {
	char *path;		/* for messages */
	struct error *why;	/* takes the messages; NULL: print them */
	size_t rows, columns, comments;
	int header;		/* line number of the header */
	char **name;		/* [columns] */
	char ***cell;		/* [rows][columns], unescaped */
	int *line;		/* [rows] line number in the file */
	struct table_comment { char *text; int line; } *comment; /* [comments]
				 * lines with a '#', without the header */
	char *text;		/* buffer that names and cells point into */
};

/*
 * table_read(path):
 * Read a table from ${path}, or from standard input if it is "-".  Return NULL
 * after a message.  table_free frees the table.
 */
struct table *table_read(const char *path);

/*
 * table_parse(what, text):
 * Parse a table from ${text}, which is copied.  ${what} names it in messages.
 * Return NULL after a message.
 *
 * table_try(what, text, e):
 * As table_parse, but add the messages about this table, also later ones, to
 * ${e}, which must outlive it.
 *
 * table_take(what, text):
 * As table_parse, for columns that are found by number: keep blanks around
 * cells, and accept columns of one name.  ${text}, from malloc, becomes part of
 * the table, or is freed.
 */
struct table *table_parse(const char *what, const char *text);
struct table *table_try(const char *what, const char *text, struct error *e);
struct table *table_take(const char *what, char *text);

/* table_free(t): Free ${t} and all its cells.  NULL does nothing. */
void table_free(struct table *t);

/*
 * table_column(t, name):
 * Return the index of a column, or -1 without a message if there is none.
 */
int table_column(const struct table *t, const char *name);

/*
 * table_int(t, row, name, min, max, to),
 * table_real(t, row, name, min, max, to):
 * Set ${*to} to the number in column ${name} of row ${row}.  Return 0.  If the
 * column is absent or the cell is not a number in [min, max], return -1 after a
 * message with file, line and column.
 */
int table_int(const struct table *t, size_t row, const char *name,
    int64_t min, int64_t max, int64_t *to);
int table_real(const struct table *t, size_t row, const char *name,
    double min, double max, double *to);

/*
 * table_text(t, row, name):
 * Return the cell in column ${name} of row ${row}, valid until table_free.
 * Return NULL after a message if the column is absent.
 */
const char *table_text(const struct table *t, size_t row, const char *name);

/*
 * table_put(b, text):
 * Append ${text} with escapes to ${b}, as a cell: behind a tab, unless ${b} is
 * empty or ends a line.
 */
void table_put(struct buffer *b, const char *text);

/*
 * table_unescape(cell):
 * Replace the escapes in ${cell} by what they stand for, in place.  Return 0,
 * or -1 without a message if an escape is unknown.
 */
int table_unescape(char *cell);

#endif
