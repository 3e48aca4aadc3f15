/* Read the log of a run as series of values over its training. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "eval/history.h"

/* The state of reading one line of a log. */
struct history_reader {
	struct history *h;
	const char *what;		/* log and number, for messages */
	const struct json *line;
	int bad;			/* -1: the line is wrong */
};

/*
 * Return number ${name} of the line.  The log writes a number that is not
 * finite as null; with ${or_null}, return NaN for it.  If the number is wrong,
 * return NaN and set r->bad, after a message if it is the first of the line.
 */
static double
history_number(struct history_reader *r, const char *name, int or_null)
{
	const struct json *v = json_get(r->line, name);
	double x;

	if (json_to_real(v, &x) == 0)
		return x;
	if (!r->bad && !(or_null && json_is(v, '0')))
		r->bad = fail("%s: %s %s (wanted a number)", r->what,
		    v == NULL ? "no" : "not a number:", name);
	return NAN;
}

/* Drop the points at ${step} and later: these steps are repeated. */
static void
history_drop(struct history_series *s, uint64_t step)
{
	while (s->n > 0 && s->at[s->n - 1].step >= step)
		s->n--;
}

/* Append ${p}.  A second line for the same step replaces the first. */
static void
history_append(struct history_series *s, struct history_point p)
{
	history_drop(s, p.step);
	s->at = array_reserve(s->at, s->n, &s->cap, sizeof(*s->at));
	s->at[s->n++] = p;
}

/*
 * Read a step line.  It stands for the steps since the line before, or since
 * the start.  After a kill, the lines of the last steps are missing, but the
 * line's ${clips} counts their clips.  Assume that these took as long per clip
 * as those of the line.
 */
static void
history_on_step(struct history_reader *r, struct history_point p)
{
	struct history_series *s = &r->h->series[HISTORY_LOSS];
	struct history_point last = { 0 };
	double seconds, rate, all;

	p.clips = history_number(r, "clips", 0);
	seconds = history_number(r, "seconds", 0);
	rate = history_number(r, "clips_per_s", 0);
	p.value = history_number(r, "loss", 1);
	history_drop(s, p.step);
	if (s->n > 0)
		last = s->at[s->n - 1];
	all = rate > 0 ? (p.clips - last.clips) / rate : seconds;
	/* Clips are counted in integers: less than half a clip is rounding. */
	if ((all - seconds) * rate > 0.5)
		seconds = all;
	p.seconds = last.seconds + seconds;
	history_append(s, p);
}

static void
history_on_validation(struct history_reader *r, struct history_point p)
{
	static const char *const name[] = { [HISTORY_TOP1] = "top1",
		[HISTORY_MAP] = "map", [HISTORY_VAL_LOSS] = "loss" };

	for (int i = HISTORY_TOP1; i < HISTORY_SERIES; i++) {
		if (i != HISTORY_TOP1 && json_get(r->line, name[i]) == NULL)
			continue;
		p.value = history_number(r, name[i], 1);
		history_append(&r->h->series[i], p);
	}
}

/* Read r->line, of type ${type}. */
static void
history_on_line(struct history_reader *r, const char *type)
{
	enum { START, STEP, VALIDATION };
	int kind = text_choice("start|step|validation", type);
	struct history_point p = { 0 };
	int64_t step;

	if (kind < 0)
		return;
	if (json_to_int(json_get(r->line, "step"), 0, INT64_MAX, &step) != 0) {
		r->bad = fail("%s: no step (wanted a number)", r->what);
		return;
	}
	p.step = (uint64_t)step;
	/* A resumed run repeats the steps after its checkpoint. */
	for (int i = 0; kind == START && i < HISTORY_SERIES; i++)
		history_drop(&r->h->series[i], p.step + 1);
	if (kind != START)
		p.epoch = history_number(r, "epoch", 0);
	if (kind == STEP)
		history_on_step(r, p);
	else if (kind == VALIDATION)
		history_on_validation(r, p);
}

/* Return 0, or -1 after a message. */
static int
history_read_line(struct history *h, const char *text, int number)
{
	char *what = xprintf("%s:%d", text_quote(h->log), number);
	struct json *v = json_parse(what, text, strlen(text));
	struct history_reader r = { h, what, v, v == NULL ? -1 : 0 };
	const char *type = json_to_text(json_get(v, "type"));

	if (type != NULL)
		history_on_line(&r, type);
	else if (v != NULL)
		r.bad = fail("%s: no type (wanted a line of a log of "
		    "vt-train)", what);
	json_free(v);
	free(what);
	return r.bad;
}

/*
 * Set the seconds of validations.  A validation is logged before the line that
 * counts its step, or directly after it; interpolate between the step lines
 * around it.
 */
static void
history_place_validations(const struct history_series *steps,
    struct history_series *s)
{
	size_t k = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct history_point *p = &s->at[i], from = { 0 }, to;

		p->seconds = NAN;
		if (steps->n == 0)
			continue;
		/* After the last line, extrapolate with its speed. */
		while (k + 1 < steps->n && steps->at[k].step < p->step)
			k++;
		to = steps->at[k];
		if (k > 0)
			from = steps->at[k - 1];
		p->seconds = to.step == from.step ? to.seconds :
		    from.seconds + (to.seconds - from.seconds) *
		    (double)(p->step - from.step) /
		    (double)(to.step - from.step);
	}
}

static int
history_read_lines(struct history *h, char *text)
{
	int number = 0;
	char *next;

	for (char *line = text; (next = strchr(line, '\n')) != NULL;
	    line = next) {
		*next++ = '\0';
		if (history_read_line(h, line, ++number) != 0)
			return -1;
	}
	for (int i = HISTORY_TOP1; i < HISTORY_SERIES; i++)
		history_place_validations(&h->series[HISTORY_LOSS],
		    &h->series[i]);
	return 0;
}

int
history_read(struct history *h, const char *run)
{
	int folder = file_is_dir(run);
	char *dir = folder ? xstrdup(run) : path_dir(run);
	char *table = path_join(dir, "schedule.tsv");
	struct buffer b = { 0 };
	int bad = 0;

	*h = (struct history){ .log = folder ? path_join(run, "log.jsonl") :
		xstrdup(run) };
	if (file_read_text(h->log, &b) != 0)
		bad = -1;
	else if (history_read_lines(h, b.data) != 0 ||
	    (access(table, F_OK) == 0 && (h->schedule = schedule_read(table)) ==
	    NULL))
		bad = -2;
	buffer_free(&b);
	free(table);
	free(dir);
	return bad;
}

void
history_free(struct history *h)
{
	for (int i = 0; i < HISTORY_SERIES; i++)
		free(h->series[i].at);
	schedule_free(h->schedule);
	free(h->log);
	*h = (struct history){ 0 };
}
