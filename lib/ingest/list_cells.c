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

int
list_code_class(const char *text, int64_t *class)
{
	return text[0] == 'c' ? text_int(text + 1, 0, LIST_CODES - 1, class) :
	    -1;
}

/*
 * Set the interval of ${k} to "FROM TO" in seconds, or "fFROM fTO" in frames.
 * Return 0, or -1 without a message.
 */
static int
list_cells_interval(const char *text, struct list_label *k)
{
	char from[40], to[40];
	int frames, n = 0;

	if (sscanf(text, " %39s %39s %n", from, to, &n) != 2 ||
	    text[n] != '\0')
		return -1;
	frames = from[0] == 'f' && to[0] == 'f';
	k->unit = frames ? LIST_FRAMES : LIST_SECONDS;
	return text_real(from + frames, 0, FRAMES, &k->from) != 0 ? -1 :
	    text_real(to + frames, k->from, FRAMES, &k->to);
}

/*
 * Cut the class at the beginning of ${text}, in quotes or not, and return the
 * interval after it, "" if it has none, or ${text} without a class.
 */
static char *
list_cells_cut_class(char *text)
{
	char *to = text, *end = text + strlen(text), *p = text + 1;
	double number;

	if (*text == '"') {
		for (; *p != '\0' && (p[0] != '"' || p[1] == '"'); p++)
			*to++ = *(p += *p == '"');
		*to = '\0';
		return *p == '"' ? p + 1 : text;
	}
	/* If the last word is a time, it belongs to an interval. */
	for (p = end; p > text && p[-1] != ' ';)
		p--;
	if (p == text || text_real(p + (*p == 'f'), -FRAMES, FRAMES,
	    &number) != 0)
		return end;
	while (p > text && p[-1] == ' ')
		p--;
	while (p > text && p[-1] != ' ')
		p--;
	if (p > text)
		p[-1] = '\0';
	return p;
}

/* Add "CLASS", "CLASS FROM TO" or "CLASS fFROM fTO" to column ${column}. */
static int
list_cells_label(struct list_reading *r, struct list_row *row, int column,
    char *text)
{
	struct list_label k = { .column = column };
	char *cell = xstrdup(text), *interval;
	int quoted, bad;
	int64_t class;

	text += strspn(text, " ");
	quoted = *text == '"';
	interval = list_cells_cut_class(text);
	text = quoted ? text : text_trim(text);

	bad = *text == '\0' || interval == text ||
	    (*interval != '\0' && list_cells_interval(interval, &k) != 0);
	if (bad)
		fail("%s: line %d: label_set: %s (wanted a class, alone, with "
		    "start and end in seconds, or with frames as f0 f9; a name "
		    "that ends with a number in quotes)", r->name, r->line,
		    Q(cell));
	free(cell);
	if (bad)
		return -1;
	text[list_whole(text)] = list_whole(text) > 0 ? '\0' : *text;
	if (!quoted && list_code_class(text, &class) == 0) {
		r->l->coded = LIST_CODES;
		k.text = xprintf("%lld", (long long)class);
	} else {
		k.text = xstrdup(text);
	}
	row->has_set = 1;
	list_row_add(row, k);
	return 0;
}

/* An empty cell means that the row has no set, "none" that its set is empty. */
static int
list_cells_set(struct list_reading *r, struct list_row *row, int column,
    char *cell)
{
	if (*cell == '\0')
		return 0;
	if (row->nlabels > 0 && !row->has_set)
		return fail("%s: line %d: label and label_set (wanted one of "
		    "them)", r->name, r->line);
	row->has_set = 1;
	if (strcmp(cell, "none") == 0)
		return 0;
	for (char *next = cell; cell != NULL; cell = next) {
		int quoted = 0;

		for (; *next != '\0' && (quoted || *next != ';'); next++)
			quoted ^= *next == '"';
		if (*next == '\0')
			next = NULL;
		else
			*next++ = '\0';
		if (list_cells_label(r, row, column, cell) != 0)
			return -1;
	}
	return 0;
}

/* Add what the columns of labels with names have: classes or sets. */
static int
list_cells_named(struct list_reading *r, struct list_row *row)
{
	for (int i = 0; i < r->head.n && i < r->cell.n; i++) {
		int set, column;
		const char *name = list_labels_name(r->head.s[i], &set);

		if (name == NULL)
			continue;
		list_column_of_labels(r->l, "");
		column = list_column_of_labels(r->l, name);
		if (set && list_cells_set(r, row, column, r->cell.s[i]) != 0)
			return -1;
		if (!set && *r->cell.s[i] != '\0')
			list_row_add(row, (struct list_label){
				xstrdup(r->cell.s[i]), column, 0, 0, 0 });
	}
	return 0;
}

/* Return a copy of the cell of ${column}, NULL if it is empty. */
static char *
list_cells_copy(const struct list_reading *r, enum list_column column)
{
	const char *cell = list_cell(r, column);

	return *cell != '\0' ? xstrdup(cell) : NULL;
}

int
list_cells(struct list_reading *r, struct list_row *row)
{
	const char *frames = list_cell(r, COLUMN_FRAMES);

	row->group = list_cells_copy(r, COLUMN_GROUP);
	if (r->at[COLUMN_GROUP] >= 0 && row->group == NULL)
		return fail("%s: line %d: no %s (wanted one in each line, for "
		    "--group)", r->name, r->line, Q(r->how->group));
	if (*frames != '\0' && text_int(frames, 1, INT64_MAX,
	    &row->part.frames) != 0)
		return fail("%s: line %d: %s %s (wanted the frames of the "
		    "video)", r->name, r->line, list_column_name(r,
		    COLUMN_FRAMES), Q(frames));
	row->split = list_cells_copy(r, COLUMN_SPLIT);
	if (r->at[COLUMN_NAME] >= 0) {
		free(row->name);
		row->name = list_cells_copy(r, COLUMN_NAME);
	}
	return list_cells_set(r, row, 0, list_cell(r, COLUMN_SET)) != 0 ? -1 :
	    list_cells_named(r, row);
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
		    "number): vt-lists(5) shows how to convert it", r->name,
		    r->line, list_column_name(r, COLUMN_LABEL));
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
		if (named == COLUMN_ID)
			row->name = xstrdup(name);
		if (label != NULL)
			list_row_label(row, label);
		if (list_cells(r, row) != 0)
			return -1;
	}
	return result;
}
