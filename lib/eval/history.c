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

/* The state of reading one log. */
struct history_reader {
	struct history *h;
	const struct json *line;
	int number;			/* number of the line, from 1 */
	struct history_series steps;	/* all step lines; value: clips so
					 * far */
};

static void
history_append(struct history_series *s, struct history_point p)
{
	s->at = array_reserve(s->at, s->n, &s->cap, sizeof(*s->at));
	s->at[s->n++] = p;
}

static int
history_is_null(const struct json *v)
{
	for (const char *kind = "{[sirb"; *kind != '\0'; kind++)
		if (json_is(v, *kind))
			return 0;
	return v != NULL;
}

/*
 * Read number ${name} of the line.  The log writes a number that is not finite
 * as null; with ${or_null}, read it as NaN.
 */
static int
history_number(const struct history_reader *r, const char *name, int or_null,
    double *to)
{
	const struct json *v = json_get(r->line, name);

	if (v != NULL && json_to_real(v, to) == 0)
		return 0;
	*to = NAN;
	if (or_null && history_is_null(v))
		return 0;
	return fail("%s:%d: %s %s (wanted a number)", text_quote(r->h->log),
	    r->number, v == NULL ? "no" : "not a number:", name);
}

static int
history_read_step(const struct history_reader *r, uint64_t *step)
{
	int64_t v;

	if (json_to_int(json_get(r->line, "step"), 0, INT64_MAX, &v) != 0)
		return fail("%s:%d: no step (wanted a number)",
		    text_quote(r->h->log), r->number);
	*step = (uint64_t)v;
	return 0;
}

/* Drop the points after ${step}: these steps are repeated. */
static void
history_forget(struct history_series *s, uint64_t step)
{
	while (s->n > 0 && s->at[s->n - 1].step > step)
		s->n--;
}

static int
history_on_start(struct history_reader *r)
{
	uint64_t step;

	if (history_read_step(r, &step) != 0)
		return -1;
	/* A resumed run repeats the steps after its checkpoint. */
	history_forget(&r->steps, step);
	for (int i = 0; i < HISTORY_SERIES; i++)
		history_forget(&r->h->series[i], step);
	return 0;
}

/*
 * Read a step line.  It stands for the steps since the line before, or since
 * the start.  After a kill, the lines of the last steps are missing, but the
 * line's ${clips} counts their clips.  Assume that these took as long per clip
 * as those of the line.
 */
static int
history_on_step(struct history_reader *r)
{
	const struct history_point none = { 0 };
	const struct history_point *last;
	double clips, seconds, rate, loss, all;
	struct history_point p = { 0 };

	if (history_read_step(r, &p.step) != 0 || history_number(r, "epoch", 0,
	    &p.epoch) != 0 || history_number(r, "clips", 0, &clips) != 0 ||
	    history_number(r, "seconds", 0, &seconds) != 0 ||
	    history_number(r, "clips_per_s", 0, &rate) != 0 ||
	    history_number(r, "loss", 1, &loss) != 0)
		return -1;
	/* A second line for the same step replaces the first. */
	if (p.step > 0) {
		history_forget(&r->steps, p.step - 1);
		history_forget(&r->h->series[HISTORY_LOSS], p.step - 1);
	}
	last = r->steps.n > 0 ? &r->steps.at[r->steps.n - 1] : &none;
	all = rate > 0 ? (clips - last->value) / rate : seconds;
	/*
	 * The clip count is an integer: a difference below half a clip is
	 * rounding.
	 */
	if ((all - seconds) * rate > 0.5)
		seconds = all;
	p.seconds = last->seconds + seconds;
	p.value = clips;
	history_append(&r->steps, p);
	p.value = loss;
	history_append(&r->h->series[HISTORY_LOSS], p);
	return 0;
}

static int
history_on_validation(struct history_reader *r)
{
	struct history_point p = { .seconds = NAN };
	static const char *const name[] = { [HISTORY_TOP1] = "top1",
		[HISTORY_MAP] = "map", [HISTORY_VAL_LOSS] = "loss" };

	if (history_read_step(r, &p.step) != 0 ||
	    history_number(r, "epoch", 0, &p.epoch) != 0)
		return -1;
	for (int i = HISTORY_TOP1; i < HISTORY_SERIES; i++) {
		if (i != HISTORY_TOP1 && json_get(r->line, name[i]) == NULL)
			continue;
		if (history_number(r, name[i], 1, &p.value) != 0)
			return -1;
		if (p.step > 0)
			history_forget(&r->h->series[i], p.step - 1);
		history_append(&r->h->series[i], p);
	}
	return 0;
}

static int
history_read_line(struct history_reader *r, const char *text)
{
	static const struct {
		const char *type;
		int (*read)(struct history_reader *r);
	} known[] = { { "start", history_on_start },
	    { "step", history_on_step },
		{ "validation", history_on_validation } };
	char *what = xprintf("%s:%d", text_quote(r->h->log), r->number);
	struct json *v = json_parse(what, text, strlen(text));
	const char *type = json_to_text(json_get(v, "type"));
	int bad = v == NULL ? -1 : 0;

	r->line = v;
	if (v != NULL && type == NULL)
		bad = fail("%s: no type (wanted a line of a log of vt-train)",
		    what);
	for (size_t i = 0; i < 3 && !bad; i++)
		if (strcmp(type, known[i].type) == 0)
			bad = known[i].read(r);
	json_free(v);
	free(what);
	return bad;
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
	const struct history_point start = { 0 };
	size_t k = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct history_point *p = &s->at[i];
		const struct history_point *from = &start, *to;

		while (k < steps->n && steps->at[k].step < p->step)
			k++;
		if (steps->n == 0)
			return;
		/*
		 * After the last line, extrapolate with the speed of that line.
		 */
		to = &steps->at[k < steps->n ? k : k - 1];
		if (to > steps->at)
			from = to - 1;
		p->seconds = to->step == from->step ? to->seconds :
		    from->seconds + (to->seconds - from->seconds) *
		    (double)(p->step - from->step) /
		    (double)(to->step - from->step);
	}
}

static int
history_read_lines(struct history_reader *r, char *text)
{
	char *next;

	for (char *line = text; (next = strchr(line, '\n')) != NULL;
	    line = next) {
		*next++ = '\0';
		r->number++;
		if (history_read_line(r, line) != 0)
			return -1;
	}
	for (int i = HISTORY_TOP1; i < HISTORY_SERIES; i++)
		history_place_validations(&r->steps, &r->h->series[i]);
	return 0;
}

int
history_read(struct history *h, const char *run)
{
	int folder = file_is_dir(run);
	char *dir = folder ? xstrdup(run) : path_dir(run);
	char *table = path_join(dir, "schedule.tsv");
	struct history_reader r = { .h = h };
	struct buffer b = { 0 };
	int bad = 0;

	*h = (struct history){ .log = folder ? path_join(run, "log.jsonl") :
		xstrdup(run) };
	if (file_read_text(h->log, &b) != 0)
		bad = -1;
	else if (history_read_lines(&r, b.data) != 0 ||
	    (access(table, F_OK) == 0 && (h->schedule = schedule_read(table)) ==
	    NULL))
		bad = -2;
	buffer_free(&b);
	free(r.steps.at);
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
