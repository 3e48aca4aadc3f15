/*
 * The times in a list: their unit, and the part of a video that a row selects.
 *
 * A wrong guess stores other frames than the label is for, and nothing shows
 * it.  So a time is read only if its unit is stated by the name of its column
 * or by its form, and a column of times under an unknown name is refused.
 */
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

/* ---- forms ---- */

/*
 * Parse a time in ${per_second} units, or as mm:ss or hh:mm:ss, with a decimal
 * point or comma.  Return 0, or -1 without a message.
 */
static int
list_times_parse(const char *text, double per_second, double *to)
{
	char copy[40], *comma, *colon, *p = copy;
	double seconds = 0, rest;
	int64_t n;

	if ((size_t)snprintf(copy, sizeof(copy), "%s", text) >= sizeof(copy))
		return -1;
	comma = strchr(copy, ',');
	if (comma != NULL && strchr(copy, '.') == NULL)
		*comma = '.';
	for (int k = 0; (colon = strchr(p, ':')) != NULL; k++, p = colon + 1) {
		*colon = '\0';
		if (k == 2 || per_second != 1 || text_int(p, 0, k > 0 ? 59 :
		    (int64_t)LIST_TIME_MAX, &n) != 0)
			return -1;
		seconds = (seconds + (double)n) * 60;
	}
	if (text_real(p, 0, LIST_TIME_MAX * per_second, &rest) != 0 ||
	    (p > copy && rest >= 60))
		return -1;
	*to = (seconds + rest) / per_second;
	return *to <= LIST_TIME_MAX ? 0 : -1;
}

/* Parse a number of frames, also as spreadsheets write it: 12.0. */
static int
list_times_frame(const char *text, int64_t *to)
{
	size_t n = list_whole(text);
	char *digits = xstrndup(text, n > 0 ? n : strlen(text));
	int result = text_int(digits, 0, FRAMES, to);

	free(digits);
	return result;
}

/* Return 1 if ${cell} has two times or numbers, as in 0.5-1.7 and [5, 17]. */
static int
list_times_is_span(const char *cell)
{
	static const char number[] = "0123456789.:", between[] = " ,;-";
	size_t n;

	cell += strspn(cell, "[(");
	if ((n = strspn(cell, number)) == 0)
		return 0;
	cell += n;
	if ((n = strspn(cell, between)) == 0)
		return 0;
	cell += n;
	n = strspn(cell, number);
	return n > 0 && cell[n + strspn(cell + n, ")]")] == '\0';
}

/* The kinds of values in a column. */
struct list_times_values {
	int whole, other;	/* first line with an integer, and with a time
				 * of another form; 0: none */
	int spans;		/* cells with two times */
	int odd;		/* other cells */
};

static struct list_times_values
list_times_scan(struct list_reading *r, int at)
{
	const struct list_lines *l = &r->lines;
	struct list_times_values v = { 0 };
	double time;

	for (size_t i = 1; i < l->n; i++) {
		char *copy = xstrdup(l->s[i]);
		const char *cell;
		int *first;

		list_cut_fields(copy, r->sep, &r->cell);
		cell = at < r->cell.n ? r->cell.s[at] : "";
		first = strpbrk(cell, ".,:") != NULL ? &v.other : &v.whole;
		if (*cell != '\0' && list_times_is_span(cell))
			v.spans++;
		else if (*cell != '\0' &&
		    list_times_parse(cell, 1, &time) != 0)
			v.odd++;
		else if (*cell != '\0' && *first == 0)
			*first = l->number[i];
		free(copy);
	}
	return v;
}

/* ---- units ---- */

int
list_has_times(const struct list_reading *r)
{
	return r->at[COLUMN_BEGIN] >= 0 && r->at[COLUMN_END] >= 0;
}

void
list_times_are_seconds(struct list_reading *r)
{
	for (int k = 0; k < 2; k++)
		r->per_second[k] = r->per_second[k] > 0 ? r->per_second[k] : 1;
}

int
list_times_find_unit(struct list_reading *r)
{
	static const char *const name[] = { "start", "end" };
	int seconds = 0, line = 0, at = 0;

	for (int k = 0; k < 2; k++) {
		struct list_times_values v;

		if (r->at[COLUMN_BEGIN + k] < 0 || r->per_second[k] > 0)
			continue;
		v = list_times_scan(r, r->at[COLUMN_BEGIN + k]);
		seconds |= v.other > 0;
		at = v.whole > 0 && line == 0 ? k : at;
		line = v.whole > 0 && line == 0 ? v.whole : line;
	}
	if (!seconds && line > 0)
		return fail("%s: line %d: column %s has integers without a "
		    "unit (wanted it in the name: time_%s for seconds, %s_ms "
		    "for milliseconds, frame_%s for frames)", r->name, line,
		    list_column_name(r, COLUMN_BEGIN + at), name[at], name[at],
		    name[at]);
	list_times_are_seconds(r);
	return 0;
}

int
list_times_check_hints(struct list_reading *r)
{
	const int *at = r->at;

	if (at[COLUMN_BEGIN] >= 0 || at[COLUMN_END] >= 0 ||
	    at[COLUMN_BEGIN_FRAME] >= 0 || at[COLUMN_END_FRAME] >= 0)
		return 0;
	for (int i = 0; i < r->head.n; i++) {
		int column = list_column_of(r->head.s[i]);
		struct list_times_values v;

		if (column < COLUMN_READ)
			continue;
		v = list_times_scan(r, i);
		if (v.odd == 0 && (v.spans > 0 || (column != COLUMN_LENGTH &&
		    v.whole + v.other > 0)))
			return fail("%s: line 1: column %s has times under a "
			    "name that vt does not read (wanted time_start and "
			    "time_end for seconds, start_ms and end_ms, or "
			    "frame_start and frame_end; for whole videos, a "
			    "list without the column)", r->name,
			    Q(r->head.s[i]));
	}
	return 0;
}

/* ---- parts ---- */

/*
 * Return 1 if a comma in ${text} may separate thousands.  In a list with
 * semicolons or tabs it is a decimal comma.
 */
static int
list_times_has_thousands(const struct list_reading *r, const char *text)
{
	const char *comma = strchr(text, ',');

	return r->sep == ',' && comma != NULL && text[0] != '0' &&
	    strspn(comma + 1, "0123456789") == 3 && comma[4] == '\0' &&
	    strchr(text, ':') == NULL;
}

static int
list_times_seconds(const struct list_reading *r, struct list_part *p)
{
	const char *begin = list_cell(r, COLUMN_BEGIN);
	const char *end = list_cell(r, COLUMN_END);
	const double *unit = r->per_second;

	if (list_times_has_thousands(r, begin) ||
	    list_times_has_thousands(r, end))
		return fail("%s: line %d: %s to %s: a comma before three "
		    "digits (wanted a decimal point, and nothing between "
		    "thousands)", r->name, r->line, Q(begin), Q(end));
	if (*begin != '\0' && list_times_parse(begin, unit[0], &p->begin) != 0)
		return fail("%s: line %d: %s %s (wanted a time from 0%s)",
		    r->name, r->line, list_column_name(r, COLUMN_BEGIN),
		    Q(begin), unit[0] == 1 ? ": seconds, mm:ss or hh:mm:ss" :
		    "");
	if (*end == '\0' || (list_times_parse(end, unit[1], &p->end) == 0 &&
	    p->end > p->begin)) {
		p->unit = p->begin > 0 || p->end > 0 ? LIST_SECONDS :
		    LIST_ALWAYS;
		return 0;
	}
	return fail("%s: line %d: %s %s (wanted a time after %s, or nothing "
	    "for the end of the video)", r->name, r->line, list_column_name(r,
	    COLUMN_END), Q(end), *begin != '\0' ? Q(begin) : "0");
}

int
list_times_part(const struct list_reading *r, struct list_part *p)
{
	const char *begin = list_cell(r, COLUMN_BEGIN_FRAME);
	const char *end = list_cell(r, COLUMN_END_FRAME);
	int64_t first = 0, last;

	if (list_times_seconds(r, p) != 0)
		return -1;
	if (*begin == '\0' && *end == '\0')
		return 0;
	if (p->unit != LIST_ALWAYS)
		return fail("%s: line %d: a part in seconds and in frames "
		    "(wanted one of them: only time_start and time_end, or "
		    "only frame_start and frame_end)", r->name, r->line);
	if ((*begin != '\0' && list_times_frame(begin, &first) != 0) ||
	    list_times_frame(end, &last) != 0 || last <= first)
		return fail("%s: line %d: frames %s to %s (wanted integers "
		    "from 0, the end without its frame)", r->name, r->line,
		    Q(begin), Q(end));
	*p = (struct list_part){ LIST_FRAMES, (double)first, (double)last, 0 };
	return 0;
}
