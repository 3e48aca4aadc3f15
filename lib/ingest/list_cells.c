/* Rows of lists with a header. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_format.h"

#define Q text_quote
#define FRAMES 1000000		/* more than a sample has */

/* Parse a code such as "c012", below ${n}, as class number ${*to}.  Return 0,
 * or -1 without a message. */
static int
list_code_class(const char *text, int n, int64_t *to)
{
	return text[0] == 'c' ? text_int(text + 1, 0, n - 1, to) : -1;
}

/* Add "CLASS", "CLASS FROM TO" in seconds, or "CLASS fFROM fTO" in frames. */
static int
list_cells_label(struct list_reading *r, struct list_row *row, char *text)
{
	char from[40] = "", to[40] = "", number[24];
	char *blank = text + strcspn(text, " "), *cell = xstrdup(text);
	int frames, bad = 0, n = 0;
	double a = 0, b = 0;
	int64_t class;

	if (*blank != '\0') {
		*blank = '\0';
		bad = sscanf(blank + 1, "%39s %39s%n", from, to, &n) != 2 ||
		    blank[1 + n] != '\0';
	}
	frames = from[0] == 'f' && to[0] == 'f';
	if (!bad && n > 0)
		bad = text_real(from + frames, 0, FRAMES, &a) != 0 ||
		    text_real(to + frames, a, FRAMES, &b) != 0;
	text[list_whole(text)] = list_whole(text) > 0 ? '\0' : *text;
	if (list_code_class(text, LIST_CODES, &class) == 0)
		r->l->coded = LIST_CODES;
	else
		bad |= text_int(text, 0, INT32_MAX, &class) != 0;
	if (bad)
		fail("%s: line %d: label_set: %s (wanted a class number, "
		    "alone, with start and end in seconds, or with frames as "
		    "f0 f9)", r->name, r->line, Q(cell));
	free(cell);
	if (bad)
		return -1;
	snprintf(number, sizeof(number), "%lld", (long long)class);
	list_row_interval(row, number, n == 0 ? LIST_ALWAYS : frames ?
	    LIST_FRAMES : LIST_SECONDS, a, b);
	return 0;
}

/* An empty cell means that the row has no set, "none" that its set is empty. */
static int
list_cells_set(struct list_reading *r, struct list_row *row, char *cell)
{
	if (*cell == '\0')
		return 0;
	if (row->nlabels > 0)
		return fail("%s: line %d: label and label_set (wanted one of "
		    "them)", r->name, r->line);
	row->has_set = 1;
	if (strcmp(cell, "none") == 0)
		return 0;
	for (char *next; cell != NULL; cell = next) {
		next = strchr(cell, ';');
		if (next != NULL)
			*next++ = '\0';
		if (list_cells_label(r, row, cell) != 0)
			return -1;
	}
	return 0;
}

int
list_cells(struct list_reading *r, struct list_row *row)
{
	const char *group = list_cell(r, COLUMN_GROUP);

	if (r->at[COLUMN_GROUP] >= 0 && *group == '\0')
		return fail("%s: line %d: no %s (wanted one in each line, for "
		    "--group)", r->name, r->line, Q(r->how->group));
	row->group = r->at[COLUMN_GROUP] >= 0 ? xstrdup(group) : NULL;
	return list_cells_set(r, row, list_cell(r, COLUMN_SET));
}

/*
 * Set ${*label} to the label of the row, NULL if it has none.  Return 1 if the
 * row is wanted, 0 if not, -1 after a message.
 */
static int
list_cells_take(struct list_reading *r, char **label)
{
	const char *vote = list_cell(r, COLUMN_VOTE);
	double shows = 1;

	*label = list_cell(r, COLUMN_LABEL);
	if (**label == '\0')
		*label = NULL;
	else if (list_is_json(*label))
		return fail("%s: line %d: %s is JSON (wanted a name or a "
		    "number): vt-extract(1), Other formats, shows how to "
		    "convert it", r->name, r->line, list_column_name(r,
		    COLUMN_LABEL));
	if (r->at[COLUMN_SPLIT] >= 0 &&
	    !list_take(r, list_cell(r, COLUMN_SPLIT)))
		return 0;
	if (r->at[COLUMN_VOTE] >= 0 && (text_real(vote, -1, 1, &shows) != 0 ||
	    fabs(shows) != 1))
		return fail("%s: line %d: label %s (wanted 1 for a video of "
		    "its class, -1 for one that is not)", r->name, r->line,
		    Q(vote));
	r->against += shows < 0;
	return shows > 0;
}

int
list_cells_read(struct list_reading *r, enum list_column named,
    struct list_row *(*find)(struct list_reading *r, const char *name,
    const char *label, const struct list_part *part))
{
	int result, take;

	while ((result = list_next_row(r)) > 0) {
		struct list_part part = { 0 };
		const char *name = list_cell(r, named);
		struct list_row *row;
		char *label;

		if (*name == '\0')
			return fail("%s: line %d: no %s", r->name, r->line,
			    list_column_name(r, named));
		if (list_times_part(r, &part) != 0 ||
		    (take = list_cells_take(r, &label)) < 0)
			return -1;
		if (!take)
			continue;
		row = find(r, name, label, &part);
		if (label != NULL)
			list_row_label(row, label);
		if (list_cells(r, row) != 0)
			return -1;
	}
	return result;
}
