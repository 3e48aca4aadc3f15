/* Describe the differences between a checkpoint and the run that would resume
 * from it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "graph/graph.h"
#include "train/run/difference.h"

/* ---- lines of a text ---- */

/* Return a copy of the next line at ${*at} that is not empty, and advance
 * ${*at} behind it and ${*number} to its number.  Return NULL at the end.  The
 * caller frees the line. */
static char *
difference_line(const char **at, int *number)
{
	size_t n;
	char *line;

	for (; **at == '\n'; ++*at)
		++*number;
	n = strcspn(*at, "\n");
	line = **at == '\0' ? NULL : xstrndup(*at, n);
	*at += n + ((*at)[n] == '\n');
	++*number;
	return line;
}

/* Return "${what} N was X and is Y now" for the first line that differs, apart
 * from empty lines.  N is its number in ${now}, from ${first}. */
static char *
difference_lines(const char *what, int first, const char *was, const char *now)
{
	char *a = NULL, *b = NULL, *text;
	int n = first - 1, old = n;

	do {
		free(a);
		free(b);
		a = difference_line(&was, &old);
		b = difference_line(&now, &n);
	} while (a != NULL && b != NULL && strcmp(a, b) == 0);
	text = xprintf("%s %d was %s and is %s now", what, n,
	    a != NULL ? text_quote(a) : "missing",
	    b != NULL ? text_quote(b) : "missing");
	free(a);
	free(b);
	return text;
}

char *
difference_network(const struct state *was, const struct state *now)
{
	char *what, *before, *after, *text;

	if (strcmp(was->model, now->model) != 0)
		return xprintf("network was %s and is %s now",
		    text_quote(was->model), text_quote(now->model));
	what = xprintf("network %s: line", text_quote(now->model));
	before = graph_uncomment(was->network);
	after = graph_uncomment(now->network);
	text = difference_lines(what, 1, before, after);
	free(before);
	free(after);
	free(what);
	return text;
}

char *
difference_classes(const struct state *was, const struct state *now)
{
	return difference_lines("class", 0, was->classes, now->classes);
}

char *
difference_flips(const struct state *was, const struct state *now)
{
	int had = strcmp(was->flips, "none") != 0;
	int has = strcmp(now->flips, "none") != 0;

	return xprintf("flips was %s and is %s now", had ? "a table" : "none",
	    !has ? "none" : had ? "another table" : "a table");
}

/* ---- schedules ---- */

/* Columns of a schedule table. */
enum { LR = 5, COLUMNS = 7, VALUE = 64 };

static const char *const column[COLUMNS] = { "batch", "frames", "crop", "bn",
	"stride", "lr", "momentum" };

/* Print column ${i} of step ${at} to ${text}.  ${at} may be the end of the
 * schedule. */
static void
difference_value(const struct schedule_step *at, int i, char text[VALUE])
{
	const struct cell *c = at->cell;
	const int number[] = { c->batch, c->frames, c->crop };

	if (i < 3)
		snprintf(text, VALUE, "%d", number[i]);
	else if (i == 3 && c->run == 0)
		snprintf(text, VALUE, "%d", c->group);
	else if (i == 3)
		snprintf(text, VALUE, "%d/%d", c->group, c->run);
	else if (i == 4)
		snprintf(text, VALUE, "%d to %d", c->stride_min, c->stride_max);
	else if (i == LR || at->momentum >= 0)
		snprintf(text, VALUE, "%.17g", i == LR ? at->lr : at->momentum);
	else
		snprintf(text, VALUE, "missing");
}

/* Describe the first difference of two schedules within ${steps} steps.  Return
 * NULL if they agree.  The caller frees the text. */
static char *
difference_step(const struct schedule *was, const struct schedule *now,
    uint64_t samples, uint64_t steps)
{
	struct schedule_step a = schedule_start(was, samples);
	struct schedule_step b = schedule_start(now, samples);
	char x[VALUE], y[VALUE];

	for (; a.step < steps && a.cell != NULL;
	    a = schedule_next(was, samples, &a),
	    b = schedule_next(now, samples, &b)) {
		if (b.cell == NULL)
			return xprintf("schedule: ends after step %" PRIu64
			    " now, but the run did %" PRIu64 " steps", b.step,
			    steps);
		for (int i = 0; i < COLUMNS; i++) {
			difference_value(&a, i, x);
			difference_value(&b, i, y);
			if (strcmp(x, y) != 0)
				return xprintf("schedule: in step %" PRIu64
				    " (epoch %.2f) %s was %s and is %s now",
				    a.step + 1, a.exact_epoch, column[i], x, y);
		}
	}
	return NULL;
}

/* Read schedule.tsv in the directory of checkpoint ${path}.  Return NULL
 * without a message if it is missing or invalid. */
static struct schedule *
difference_beside(const char *path)
{
	char *dir = path_dir(path), *beside = path_join(dir, "schedule.tsv");
	struct schedule *s = NULL;

	if (file_size(beside) >= 0) {
		struct error unused = { "" }, *before = fail_into(&unused);

		s = schedule_read(beside);
		fail_into(before);
	}
	free(beside);
	free(dir);
	return s;
}

char *
difference_schedule(const char *path, const struct state *was,
    const struct schedule *now, uint64_t samples)
{
	uint64_t then = was->epoch > 0 ?
	    (uint64_t)llround((double)was->clips / was->epoch) : samples;
	struct schedule *beside;
	char history[33], *text = NULL;

	if (then != samples)
		return xprintf("schedule: an epoch had %" PRIu64
		    " samples and has %" PRIu64 " now", then, samples);
	beside = difference_beside(path);
	if (beside != NULL && strcmp(was->history, hash128_text(
	    schedule_prefix_hash(beside, samples, was->step), history)) == 0)
		text = difference_step(beside, now, samples, was->step);
	schedule_free(beside);
	return text != NULL ? text : xprintf("schedule: the first %" PRIu64
	    " steps differ from those of the run", was->step);
}
