/*
 * The header of a list: which column has which meaning, and the cells of a row
 * that it names.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_format.h"

#define Q text_quote

/* Words that add nothing but a unit to the name of a column. */
#define WORD COLUMNS
#define WORD_FRAME (COLUMNS + 1)

/*
 * The names of columns and the words they consist of, "a|b".  Case, blanks and
 * marks do not matter: "Start Time (s)" is start_time_s.  A name that is not
 * listed is read if one of its words begins or ends a part and WORD rows have
 * all others.  The first name wins if a list has several columns of one
 * meaning.
 */
static const struct list_columns_name {
	int column;
	double per_second;	/* units in a second; 0: not stated */
	const char *names;
} list_columns_name[] = {
	/* Columns of vt itself: a second one of their meaning is not read. */
	{ COLUMN_BEGIN, 1, "time_start" },
	{ COLUMN_END, 1, "time_end" },
	{ COLUMN_BEGIN_FRAME, 0, "frame_start" },
	{ COLUMN_END_FRAME, 0, "frame_end" },
#define OWN 4
	{ COLUMN_PATH, 0, "path|file|filename|video|video_path|filepath|"
	    "video_file|video_name|vid_name|video_filename" },
	{ COLUMN_ID, 0, "youtube_id|video_id|id" },
	{ COLUMN_LABEL, 0, "label|class|label_name|class_name|action|"
	    "action_label|action_name|action_cls|activity|category|behavior|"
	    "behaviour|label_id|class_id|label_index|class_index" },
	{ COLUMN_SET, 0, "label_set" },
	{ COLUMN_NAME, 0, "official_name" },
	{ COLUMN_FRAMES, 0, "claimed_frames" },
	{ COLUMN_SPLIT, 0, "split|subset" },
	{ COLUMN_ACTIONS, 0, "actions" },
	{ WORD_FRAME, 0, "frame|frames" },
	{ WORD, 1, "s|sec|secs|second|seconds|ss" },
	{ WORD, 1e3, "ms|msec|millis|millisecond|milliseconds" },
	{ WORD, 1e6, "us|usec|microseconds" },
	{ WORD, 0, "hh|mm|t|ts|time|timestamp|temporal|clip|event|segment|"
	    "action|video|in|index|idx|number|no|id" },
	{ COLUMN_LENGTH, 0, "duration|length|frames|num_frames|n_frames|"
	    "frame_count|total_frames|interval|segment|range" },
	{ COLUMN_INSTANT, 0, "time|timestamp|second|seconds|frame" },
	{ COLUMN_BEGIN, 0, "start|begin|onset|starttime|begintime" },
	{ COLUMN_BEGIN_FRAME, 0, "startframe|beginframe" },
	{ COLUMN_END, 0, "end|stop|offset|finish|endtime|stoptime" },
	{ COLUMN_END_FRAME, 0, "endframe|stopframe" },
	{ COLUMN_HINT, 0, "from|to|first|last|in|out|timecode|t0|t1" },
};

/* ---- names ---- */

/*
 * Write ${cell} to ${to}[64] as the table has names: lower case, and '_'
 * between words, also where a capital follows a small letter.
 */
static void
list_columns_normalize(const char *cell, char *to)
{
	size_t n = 0;

	for (const char *s = cell; *s != '\0' && n < 62; s++) {
		int c = (unsigned char)*s;

		if (c < 0x80 && !isalnum(c)) {
			if (n > 0 && to[n - 1] != '_')
				to[n++] = '_';
			continue;
		}
		if (isupper(c) && s > cell && islower((unsigned char)s[-1]))
			to[n++] = '_';
		to[n++] = (char)tolower(c);
	}
	while (n > 0 && to[n - 1] == '_')
		n--;
	to[n] = '\0';
}

/* Return the index of ${name} in "a|b", without regard to '_'; -1 if absent. */
static int
list_columns_index(const char *names, const char *name)
{
	for (int i = 0;; i++) {
		const char *s = name;

		for (;; names++, s++) {
			names += *names == '_';
			s += *s == '_';
			if (*s == '\0' || *s != *names)
				break;
		}
		if (*s == '\0' && (*names == '|' || *names == '\0'))
			return i;
		names += strcspn(names, "|");
		if (*names++ == '\0')
			return -1;
	}
}

/* A column: its meaning, -1 if none, its rank among those of this meaning, and
 * the unit that its name states. */
struct list_columns_kind { int column, rank; double per_second; };

#define NAMES 64		/* at most in a row */

/* Return the kind of ${word}, a word of a name if ${part} is set and a whole
 * name otherwise. */
static struct list_columns_kind
list_columns_find(const char *word, int part)
{
	int rows = sizeof(list_columns_name) / sizeof(*list_columns_name), k;

	for (int i = 0; i < rows; i++) {
		const struct list_columns_name *r = &list_columns_name[i];
		int c = r->column;

		if ((part ? c >= WORD || c == COLUMN_BEGIN || c == COLUMN_END ||
		    c == COLUMN_HINT || c == COLUMN_LENGTH : c < WORD) &&
		    (k = list_columns_index(r->names, word)) >= 0)
			return (struct list_columns_kind){ c, i * NAMES + k,
				r->per_second };
	}
	return (struct list_columns_kind){ -1, rows * NAMES, 0 };
}

static struct list_columns_kind
list_columns_by_words(char *name, struct list_columns_kind k)
{
	int count[COLUMNS + 2] = { 0 }, unknown = 0;

	for (char *word; (word = strsep(&name, "_")) != NULL;) {
		struct list_columns_kind w = list_columns_find(word, 1);

		if (w.column < 0)
			unknown++;
		else
			count[w.column]++;
		if (k.per_second == 0)
			k.per_second = w.per_second;
	}
	if (count[COLUMN_LENGTH] > 0)
		k.column = COLUMN_LENGTH;
	else if (unknown + count[COLUMN_HINT] == 0 && count[COLUMN_BEGIN] +
	    count[COLUMN_END] == 1)
		k.column = (count[COLUMN_BEGIN] ? COLUMN_BEGIN : COLUMN_END) +
		    (count[WORD_FRAME] ? COLUMN_BEGIN_FRAME - COLUMN_BEGIN : 0);
	else if (count[COLUMN_BEGIN] + count[COLUMN_END] +
	    count[COLUMN_HINT] > 0)
		k.column = COLUMN_HINT;
	else if (unknown == 0 && (k.per_second > 0 || count[WORD_FRAME] > 0))
		k.column = COLUMN_INSTANT;
	return k;
}

static struct list_columns_kind
list_columns_kind_of(const char *cell)
{
	struct list_columns_kind k;
	char name[64];

	list_columns_normalize(cell, name);
	k = list_columns_find(name, 0);
	return k.column < 0 ? list_columns_by_words(name, k) : k;
}

const char *
list_labels_name(const char *cell, int *set)
{
	const char *colon = strchr(cell, ':');
	size_t n = colon != NULL ? (size_t)(colon - cell) : 0;

	*set = n == 9 && strncasecmp(cell, "label_set", n) == 0;
	return colon != NULL && colon[1] != '\0' && (*set || (n == 5 &&
	    strncasecmp(cell, "label", n) == 0)) ? colon + 1 : NULL;
}

int
list_column_of(const char *cell)
{
	return list_columns_kind_of(cell).column;
}

const char *
list_columns_names(enum list_column column)
{
	static _Thread_local char text[512];
	const struct list_columns_name *r = list_columns_name;
	size_t n = 0;

	while (r->column != (int)column)
		r++;
	for (const char *s = r->names; *s != '\0'; s++) {
		text[n++] = *s == '|' ? ',' : *s;
		if (*s == '|')
			text[n++] = ' ';
	}
	text[n] = '\0';
	return text;
}

char *
list_cell(const struct list_reading *r, enum list_column column)
{
	static char none[] = "";
	int at = r->at[column];

	return at >= 0 && at < r->cell.n ? r->cell.s[at] : none;
}

int
list_named_at(const struct list_reading *r, const char *name)
{
	int i = r->head.n - 1;

	while (i >= 0 && strcmp(r->head.s[i], name) != 0)
		i--;
	return i;
}

char *
list_named(const struct list_reading *r, const char *name)
{
	static char none[] = "";
	int i = list_named_at(r, name);

	return i >= 0 && i < r->cell.n ? r->cell.s[i] : none;
}

const char *
list_column_name(const struct list_reading *r, enum list_column column)
{
	return Q(r->head.s[r->at[column]]);
}

/* ---- the header ---- */

/*
 * Set the columns of ${r} from r->head.  Of two columns of one meaning take the
 * one with the better name.
 */
static void
list_columns_assign(struct list_reading *r)
{
	int *at = r->at, rank[COLUMNS];

	for (int c = 0; c < COLUMNS; c++)
		at[c] = -1;
	r->per_second[0] = r->per_second[1] = 0;
	for (int i = 0; i < r->head.n; i++) {
		struct list_columns_kind k = list_columns_kind_of(r->head.s[i]);

		if (r->how->group != NULL &&
		    strcasecmp(r->head.s[i], r->how->group) == 0)
			at[COLUMN_GROUP] = i;
		if (k.column < 0 || (at[k.column] >= 0 &&
		    k.rank >= rank[k.column]))
			continue;
		at[k.column] = i;
		rank[k.column] = k.rank;
		if (k.column == COLUMN_BEGIN || k.column == COLUMN_END)
			r->per_second[k.column - COLUMN_BEGIN] = k.per_second;
	}
}

void
list_columns_drop(struct list_reading *r)
{
	r->head.n = 0;
	list_columns_assign(r);
}

int
list_columns_read(struct list_reading *r, const char *line)
{
	static const char seps[] = ",\t;| ";
	int lost = 0;		/* 1: names of columns, but not of videos */

	r->head_line = line;
	/* The separator is the one that gives known names. */
	for (const char *s = seps; *s != '\0'; s++) {
		free(r->head_text);
		r->head_text = xstrdup(line);
		r->sep = *s;
		r->format = NULL;
		if (list_cut_fields(r->head_text, *s, &r->head) != 0)
			continue;
		list_columns_assign(r);
		list_detect_by(r, LIST_BY_COLUMNS);
		/* A line of words may be a path and its label. */
		if (r->format != NULL && (*s != ' ' ||
		    (r->at[COLUMN_LABEL] >= 0 && r->head.n > 1)))
			return 1;
		for (int c = 0, known = 0; c < COLUMNS && *s != ' '; c++)
			lost |= (known += r->at[c] >= 0) > 1;
	}
	r->format = NULL;
	list_columns_drop(r);
	return -lost;
}

/* ---- checks ---- */

/* Refuse columns that contradict each other. */
static int
list_columns_check_pairs(const struct list_reading *r)
{
	const int *at = r->at;

	for (int i = 0; i < r->head.n; i++) {
		struct list_columns_kind k = list_columns_kind_of(r->head.s[i]);
		enum list_column c = (enum list_column)k.column;

		if (k.column < COLUMN_BEGIN || k.column > COLUMN_END_FRAME ||
		    at[c] < 0 || at[c] == i || list_columns_kind_of(
		    r->head.s[at[c]]).rank < OWN * NAMES)
			continue;
		return fail("%s: line 1: columns %s and %s (wanted one of "
		    "them, or the name %s for one)", r->name,
		    list_column_name(r, c), Q(r->head.s[i]),
		    list_columns_name[c - COLUMN_BEGIN].names);
	}
	if (at[COLUMN_END] >= 0 && strcasestr(r->head.s[at[COLUMN_END]],
	    "offset") != NULL && (at[COLUMN_BEGIN] < 0 || strcasestr(
	    r->head.s[at[COLUMN_BEGIN]], "onset") == NULL))
		return fail("%s: line 1: column %s without onset (wanted both, "
		    "or a name such as time_start or time_end)", r->name,
		    list_column_name(r, COLUMN_END));
	for (int k = 0; k < 2; k++) {
		enum list_column begin = k == 0 ? COLUMN_BEGIN :
		    COLUMN_BEGIN_FRAME;
		enum list_column other = k == 0 ? COLUMN_END_FRAME : COLUMN_END;

		if (at[begin] < 0 || at[begin + 1] >= 0)
			continue;
		other = at[other] >= 0 ? other : COLUMN_LENGTH;
		if (at[other] >= 0)
			return fail("%s: line 1: columns %s and %s (wanted "
			    "begin and end in one unit, such as time_start and "
			    "time_end)", r->name, list_column_name(r, begin),
			    list_column_name(r, other));
	}
	return 0;
}

/* Note the columns that are not read, once for lists with the same ones. */
static void
list_columns_note_unused(struct list_reading *r)
{
	struct buffer b = { 0 };
	int n = 0;

	for (int i = 0; i < r->head.n; i++) {
		int used = *r->head.s[i] == '\0' ||
		    list_labels_name(r->head.s[i], &(int){ 0 }) != NULL;

		for (int c = 0; c < COLUMN_READ; c++)
			used |= r->at[c] == i;
		if (!used)
			buffer_printf(&b, "%s%s", n++ > 0 ? ", " : "",
			    Q(r->head.s[i]));
	}
	if (n > 0 && (r->unused.n == 0 || strcmp(r->unused.data, b.data) != 0))
		note("%s: column%s %s: not used", r->name, n == 1 ? "" : "s",
		    b.data);
	buffer_free(&r->unused);
	r->unused = b;
}

int
list_columns_check(struct list_reading *r)
{
	if (list_columns_check_pairs(r) != 0 || list_times_find_unit(r) != 0 ||
	    list_times_check_hints(r) != 0)
		return -1;
	list_columns_note_unused(r);
	return 0;
}

/* ---- rows ---- */

/* Split ${line} into r->cell.  Return 1 if it has a cell, 0 if all are empty,
 * -1 after a message. */
static int
list_columns_row(struct list_reading *r, char *line)
{
	int full = 0, last = 0;

	if (list_cut_cells(r, line) != 0)
		return -1;
	for (int i = 0; i < r->cell.n; i++) {
		if (*r->cell.s[i] == '\0')
			continue;
		full = 1;
		if (i >= r->head.n)
			return fail("%s: line %d: %d cells, but %d columns in "
			    "the header (wanted quotes around a cell that has "
			    "the separator)", r->name, r->line, r->cell.n,
			    r->head.n);
	}
	for (int c = 0; c < COLUMN_READ; c++)
		last = r->at[c] > last ? r->at[c] : last;
	if (full && r->cell.n <= last)
		return fail("%s: line %d: %d cells (wanted %d, one for each "
		    "column up to %s)", r->name, r->line, r->cell.n, last + 1,
		    Q(r->head.s[last]));
	return full;
}

int
list_next_row(struct list_reading *r)
{
	char *line;
	int result = 0;

	while (result == 0 && (line = list_next_line(r)) != NULL)
		result = list_columns_row(r, line);
	return result;
}
