/*
 * Events of BORIS, of versions 7 to 9: a row for each event ("aggregated"), or
 * for its start and its stop ("tabular"), whose header version 7 writes below
 * lines of NAME and VALUE.  Columns differ between projects and are found by
 * name.
 *
 * Times are seconds of the observation.  The first player shows its files one
 * after the other, and the time offset of the observation is contained in the
 * times (boris/write_event.py of BORIS).  The file that a row names need not be
 * the one that is shown then, so it is read only without a list of files.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_format.h"

#define Q text_quote
#define SECONDS 1e10		/* offsets may be times of Unix */
#define SLACK 1e-3		/* of times, which have three digits */

enum { BORIS_BEHAVIOR, BORIS_TYPE, BORIS_OBSERVATION, BORIS_SUBJECT,
	BORIS_SOURCE, BORIS_MEDIA, BORIS_DURATIONS, BORIS_OFFSET, BORIS_TIME,
	BORIS_START, BORIS_STOP, BORIS_COLUMNS };

/* The names of each column, "a|b". */
static const char *const boris_names[BORIS_COLUMNS] = {
	"Behavior", "Behavior type|Status", "Observation id", "Subject",
	"Source", "Media file name|Media file|Media file path",
	"Media duration (s)", "Time offset (s)", "Time", "Start (s)", "Stop (s)"
};

/* An event.  Its texts point into the list. */
struct boris_event {
	const char *behavior, *observation, *source, *media, *durations;
	char *key;		/* of the states that a start and a stop
				 * share */
	double offset, begin, end;
	int line;
	enum { BORIS_STATE, BORIS_POINT, BORIS_BEGINS, BORIS_ENDS } kind;
};

struct boris {
	struct list_reading *r;
	int at[BORIS_COLUMNS], modifiers[16], nmodifiers;
	double offset;		/* of the lines above the header */
	struct boris_event *event;
	size_t n, cap;
};

int
boris_detect(struct list_reading *r)
{
	const char *text = r->text.data;

	return text_starts(text + (*text == '"'), "Observation id");
}

static char *
boris_cell(const struct boris *b, int column)
{
	static char none[] = "";
	int at = b->at[column];

	return at >= 0 && at < b->r->cell.n ? b->r->cell.s[at] : none;
}

/* Set ${*to} to the seconds in column ${column}. */
static int
boris_seconds(const struct boris *b, int column, double *to)
{
	const char *cell = boris_cell(b, column);

	return text_real(cell, -SECONDS, SECONDS, to) == 0 ? 0 :
	    fail("%s: line %d: %s %s (wanted seconds)", b->r->name, b->r->line,
		boris_names[column], Q(cell));
}

/* Find the columns in r->cell.  Return 1 if it is the header. */
static int
boris_header(struct boris *b)
{
	const struct list_fields *f = &b->r->cell;

	b->nmodifiers = 0;
	for (int c = 0; c < BORIS_COLUMNS; c++)
		b->at[c] = -1;
	for (int i = f->n - 1; i >= 0; i--) {
		for (int c = 0; c < BORIS_COLUMNS; c++)
			if (text_choice(boris_names[c], f->s[i]) >= 0)
				b->at[c] = i;
		if (text_starts(f->s[i], "Modifier") && b->nmodifiers < 16)
			b->modifiers[b->nmodifiers++] = i;
	}
	return b->at[BORIS_BEHAVIOR] >= 0 && b->at[BORIS_TYPE] >= 0 &&
	    (b->at[BORIS_TIME] >= 0 || (b->at[BORIS_START] >= 0 &&
	    b->at[BORIS_STOP] >= 0));
}

/* Read the lines to the header. */
static int
boris_read_header(struct boris *b)
{
	struct list_reading *r = b->r;
	char *line;

	while ((line = list_next_line(r)) != NULL) {
		if (list_cut_cells(r, line) != 0)
			return -1;
		if (boris_header(b))
			return 0;
		if (r->cell.n > 1 && strcmp(r->cell.s[0], "Time offset (s)") ==
		    0 && text_real(r->cell.s[1], -SECONDS, SECONDS,
		    &b->offset) != 0)
			return list_broken(r, r->cell.s[1]);
	}
	return fail("%s: no header (wanted %s)", r->name, r->format->wanted);
}

static int
boris_read_event(struct boris *b)
{
	static const char kinds[] = "STATE|POINT|START|STOP";
	struct list_reading *r = b->r;
	const char *type = boris_cell(b, BORIS_TYPE);
	int kind = text_choice(kinds, type), tabular = b->at[BORIS_TIME] >= 0;
	struct boris_event e = { .line = r->line, .kind = (unsigned)kind,
		.behavior = boris_cell(b, BORIS_BEHAVIOR),
		.observation = boris_cell(b, BORIS_OBSERVATION),
		.source = boris_cell(b, BORIS_SOURCE),
		.media = boris_cell(b, BORIS_MEDIA),
		.durations = boris_cell(b, BORIS_DURATIONS),
		.offset = b->offset };
	struct buffer key = { 0 };

	if (kind < 0 || (kind != BORIS_POINT && (kind == BORIS_STATE) ==
	    tabular))
		return fail("%s: line %d: %s (wanted %s or POINT)", r->name,
		    r->line, Q(type), tabular ? "START, STOP" : "STATE");
	if (*e.behavior == '\0')
		return fail("%s: line %d: no Behavior", r->name, r->line);
	if (*e.source == '\0' && *e.media == '\0')
		return fail("%s: line %d: no media file (wanted events of "
		    "videos, not of a live observation)", r->name, r->line);
	if ((b->at[BORIS_OFFSET] >= 0 && boris_seconds(b, BORIS_OFFSET,
	    &e.offset) != 0) || boris_seconds(b, tabular ? BORIS_TIME :
	    BORIS_START, &e.begin) != 0)
		return -1;
	e.end = e.begin;
	if (kind == BORIS_STATE && boris_seconds(b, BORIS_STOP, &e.end) != 0)
		return -1;
	buffer_printf(&key, "%s\n%s\n%s", e.observation, boris_cell(b,
	    BORIS_SUBJECT), e.behavior);
	for (int i = 0; i < b->nmodifiers; i++)
		buffer_printf(&key, "\n%s", b->modifiers[i] < r->cell.n ?
		    r->cell.s[b->modifiers[i]] : "");
	e.key = key.data;
	b->event = array_reserve(b->event, b->n, &b->cap, sizeof(e));
	b->event[b->n++] = e;
	return 0;
}

/* Compare events for qsort: by key, time and line. */
static int
boris_by_key(const void *a, const void *b)
{
	const struct boris_event *s = *(struct boris_event *const *)a;
	const struct boris_event *t = *(struct boris_event *const *)b;
	int order = strcmp(s->key, t->key);

	if (order == 0)
		order = (s->begin > t->begin) - (s->begin < t->begin);
	return order != 0 ? order : s->line - t->line;
}

/* Make a state of each start and the stop that follows it. */
static int
boris_pair(struct boris *b)
{
	struct boris_event **e = xcalloc(b->n, sizeof(*e));
	size_t n = 0;
	int result = 0;

	for (size_t i = 0; i < b->n; i++)
		if (b->event[i].kind == BORIS_BEGINS ||
		    b->event[i].kind == BORIS_ENDS)
			e[n++] = &b->event[i];
	qsort(e, n, sizeof(*e), boris_by_key);
	for (size_t i = 0; i < n && result == 0; i += 2) {
		if (e[i]->kind == BORIS_BEGINS && i + 1 < n &&
		    e[i + 1]->kind == BORIS_ENDS &&
		    strcmp(e[i]->key, e[i + 1]->key) == 0) {
			e[i]->kind = BORIS_STATE;
			e[i]->end = e[i + 1]->begin;
			continue;
		}
		result = fail("%s: line %d: %s of %s without its %s (wanted "
		    "pairs with the same subject and modifiers)", b->r->name,
		    e[i]->line, e[i]->kind == BORIS_BEGINS ? "START" : "STOP",
		    Q(e[i]->behavior), e[i]->kind == BORIS_BEGINS ? "STOP" :
		    "START");
	}
	free(e);
	return result;
}

/* Cut the next of the values at ${*next}, "a;b|c", off.  Return NULL after the
 * last one of the first player. */
static char *
boris_cut(char **next)
{
	char *value = *next, end;

	if (value == NULL)
		return NULL;
	*next += strcspn(value, ";|");
	end = **next;
	**next = '\0';
	*next = end == ';' ? *next + 1 : NULL;
	return text_trim(value);
}

/* Append the part of ${file} that shows ${e}: of the seconds [${first},${last})
 * of the observation. */
static int
boris_clip(struct boris *b, const struct boris_event *e, const char *file,
    double first, double last)
{
	double half = e->kind == BORIS_POINT ? b->r->how->around / 2 : 0;
	double begin = e->begin - e->offset, end = e->end - e->offset;
	struct list_row *row;

	if (half > 0 && (begin < first || begin >= last))
		return 0;
	begin = fmax(begin - half - first, 0);
	end = fmin(end + half, last) - first;
	if (end <= begin)
		return 0;
	b->r->line = e->line;
	row = list_find_media(b->r, file);
	/* Without the noise of a subtraction in keys. */
	list_select(b->r, row, &(struct list_part){ LIST_SECONDS,
		round(begin * 1e6) / 1e6, round(end * 1e6) / 1e6, 0 });
	list_row_label(row, e->behavior);
	return 1;
}

/* Append the parts that show ${e}, one for each file. */
static int
boris_clips(struct boris *b, const struct boris_event *e)
{
	const char *name = b->r->name, *source = *e->source != '\0' ?
	    e->source : e->media;
	const char *colon = strchr(source, ':');
	char *files = xstrdup(text_starts(source, "player #") && colon != NULL ?
	    colon + 1 : source);
	char *lasts = xstrdup(e->durations), *next = files, *times = lasts;
	double first = 0;
	int result = 0, clips = 0;

	for (char *file; result == 0 && (file = boris_cut(&next)) != NULL;) {
		char *length = boris_cut(&times);
		double last = HUGE_VAL, seconds;

		if (next != NULL && (length == NULL || text_real(length, 0,
		    SECONDS, &seconds) != 0))
			result = fail("%s: line %d: several files without "
			    "their durations (wanted an export of BORIS 8 or "
			    "later)", name, e->line);
		else if (next != NULL)
			last = first + seconds;
		if (result == 0)
			clips += boris_clip(b, e, file, first, last);
		first = last;
	}
	if (result == 0 && (clips == 0 || e->begin - e->offset < -SLACK))
		result = fail("%s: line %d: %s from %g s to %g s, with a time "
		    "offset of %g s (wanted a time in the video)", name,
		    e->line, Q(e->behavior), e->begin, e->end, e->offset);
	free(files);
	free(lasts);
	return result;
}

static int
boris_append(struct boris *b)
{
	const struct list_reading *r = b->r;
	const struct boris_event *last = NULL;
	int result = 0;

	for (size_t i = 0; i < b->n && result == 0; i++) {
		const struct boris_event *e = &b->event[i];

		if (e->kind == BORIS_ENDS)
			continue;
		if (e->kind == BORIS_POINT && r->how->around == 0)
			result = fail("%s: line %d: %s is a POINT event "
			    "(wanted --around=2s, or another time, for a clip "
			    "with the event in its middle)", r->name, e->line,
			    Q(e->behavior));
		else if (*e->source == '\0' && last != NULL &&
		    strcmp(last->observation, e->observation) == 0 &&
		    strcmp(last->media, e->media) != 0)
			result = fail("%s: line %d: a second file without the "
			    "duration of the first (wanted an export of BORIS "
			    "8 or later)", r->name, e->line);
		else
			result = boris_clips(b, e);
		last = e;
	}
	return result;
}

int
boris_read(struct list_reading *r)
{
	struct boris b = { .r = r };
	char *line;
	int result;

	r->sep = r->text.data[strcspn(r->text.data, "\t,;")];
	result = list_cut_lines(&r->lines, r->name, r->text.data);
	if (result == 0)
		result = boris_read_header(&b);
	while (result == 0 && (line = list_next_line(r)) != NULL) {
		int columns = r->cell.n;

		result = list_cut_cells(r, line);
		if (result == 0 && r->cell.n != columns)
			result = fail("%s: line %d: %d cells, but %d columns "
			    "in the header (wanted quotes around a cell that "
			    "has the separator)", r->name, r->line, r->cell.n,
			    columns);
		if (result == 0)
			result = boris_read_event(&b);
	}
	if (result == 0)
		result = boris_pair(&b);
	if (result == 0)
		result = boris_append(&b);
	for (size_t i = 0; i < b.n; i++)
		free(b.event[i].key);
	free(b.event);
	return result;
}
