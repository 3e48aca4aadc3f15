#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Tables as text: rows of tab-separated cells under a header line "#a\tb\tc".
 * Tabs, ends of lines and backslashes in a cell are written \t, \n, \r and \\.
 * Lines that begin with "# " are comments; the header's "#" has no blank after it.
 * Readers find columns by name, so columns may be added and moved; a name that
 * is there twice, a line with a carriage return within, and a zero byte are
 * refused.
 */
struct table {
	char *path;		/* for messages */
	size_t rows, columns;
	char **name;		/* [columns] */
	char ***cell;		/* [rows][columns], unescaped */
	int *line;		/* [rows] where the row stood in the file */
	char *text;		/* what names and cells point into */
};

/* table_read(path): a table from a file, "-" is standard input. */
struct table *table_read(const char *path);

/* table_parse(what, text): the same from text; ${what} names it. */
struct table *table_parse(const char *what, const char *text);
void table_free(struct table *t);

/* table_column(t, name): its index, or -1 without a message. */
int table_column(const struct table *t, const char *name);

/*
 * table_int, table_real, table_text:
 * The cell of ${row} in the column called ${name}; -1 or NULL after a message
 * naming file, line and column if there is none or it is out of range.
 */
int table_int(const struct table *t, size_t row, const char *name,
    int64_t min, int64_t max, int64_t *to);
int table_real(const struct table *t, size_t row, const char *name,
    double min, double max, double *to);
const char *table_text(const struct table *t, size_t row, const char *name);

/* table_escape(s): ${s} as a cell, the caller's to free. */
char *table_escape(const char *s);

#endif
