/*
 * Find the checkpoint to resume from, and check that the run may resume from
 * it.  The comparison itself uses hashes, which only show that something
 * differs, so describe how networks, classes and schedules differ.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "graph/graph.h"
#include "train/run/agree.h"
#include "train/run/resume.h"
#include "train/run/rundir.h"

int
resume_file(const char *path, struct resume *r)
{
	int bad;

	*r = (struct resume){ 0 };
	bad = checkpoint_read(path, &r->file, &r->state);
	if (bad)
		return bad;
	r->path = xstrdup(path);
	return 1;
}

void
resume_free(struct resume *r)
{
	if (r->path != NULL)
		safetensors_free(&r->file);
	free(r->path);
	r->path = NULL;
}

int
resume_newest(const char *dir, struct resume *r)
{
	struct rundir run = { .path = dir };
	uint64_t *steps;
	int n = rundir_checkpoints(dir, "", &steps), got = n < 0 ? -1 : 0;

	for (int i = 0; i < n && got != 1 && got != -1; i++) {
		char *path = rundir_checkpoint(&run, steps[i]);
		int bad = resume_file(path, r);

		r->skipped = i;
		r->newest = steps[0];
		/* A running process may have removed it meanwhile.  If any is
		 * damaged, the result is -2, not -3. */
		if (bad != -1 || access(path, F_OK) == 0)
			got = bad == -3 && got == -2 ? -2 : bad;
		free(path);
	}
	free(steps);
	/* An earlier start may have renamed all of them, and then failed to
	 * begin a run. */
	if (n == 0) {
		got = rundir_checkpoints(dir, ".bad", &steps) > 0 ? -2 : 0;
		free(steps);
	}
	if (got == -2)
		fail("%s: every checkpoint is damaged; a new run needs another "
		    "directory", text_quote(dir));
	if (got == -3)
		fail("%s: every checkpoint holds NaN or infinity; a new run "
		    "needs another directory", text_quote(dir));
	return got;
}

int
resume_rename_bad(const char *dir, const struct resume *r)
{
	struct rundir run = { .path = dir };
	uint64_t *steps;
	int n = rundir_checkpoints(dir, "", &steps), newer = 0;
	int bad = n < 0 ? -1 : 0;

	while (newer < n && steps[newer] > r->state.step)
		newer++;
	if (!bad && (newer != r->skipped ||
	    (n > 0 ? steps[0] : 0) != r->newest))
		bad = fail("%s: another process has just saved a checkpoint "
		    "there (start only one)", text_quote(dir));
	for (int i = 0; i < newer && !bad; i++) {
		char *path = rundir_checkpoint(&run, steps[i]);
		char *aside = xprintf("%s.bad", path);

		if (rename(path, aside) != 0)
			bad = fail_errno("%s: cannot rename to %s",
			    text_quote(path), text_quote(path_base(aside)));
		else
			warning("%s: damaged or not finite: renamed to %s, "
			    "resuming from an older one", text_quote(path),
			    text_quote(path_base(aside)));
		free(aside);
		free(path);
	}
	free(steps);
	return bad;
}

/* ---- lines of a text ---- */

/* Return a copy of the next line at ${*at} that is not empty, and advance
 * ${*at} behind it and ${*number} to its number.  Return NULL at the end.  The
 * caller frees the line. */
static char *
resume_line(const char **at, int *number)
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
resume_lines(const char *what, int first, const char *was, const char *now)
{
	char *a = NULL, *b = NULL, *text;
	int n = first - 1, old = n;

	do {
		free(a);
		free(b);
		a = resume_line(&was, &old);
		b = resume_line(&now, &n);
	} while (a != NULL && b != NULL && strcmp(a, b) == 0);
	text = xprintf("%s %d was %s and is %s now", what, n,
	    a != NULL ? text_quote(a) : "missing",
	    b != NULL ? text_quote(b) : "missing");
	free(a);
	free(b);
	return text;
}

static char *
resume_network(const struct state *was, const struct state *now)
{
	char *what, *before, *after, *text;

	if (strcmp(was->model, now->model) != 0)
		return xprintf("network was %s and is %s now",
		    text_quote(was->model), text_quote(now->model));
	what = xprintf("network %s: line", text_quote(now->model));
	before = graph_uncomment(was->network);
	after = graph_uncomment(now->network);
	text = resume_lines(what, 1, before, after);
	free(before);
	free(after);
	free(what);
	return text;
}

static char *
resume_classes(const struct state *was, const struct state *now)
{
	return resume_lines("class", 0, was->classes, now->classes);
}

static char *
resume_flips(const struct state *was, const struct state *now)
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
resume_value(const struct schedule_step *at, int i, char text[VALUE])
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
resume_step(const struct schedule *was, const struct schedule *now,
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
			resume_value(&a, i, x);
			resume_value(&b, i, y);
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
resume_beside(const char *path)
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

static char *
resume_schedule(const char *path, const struct state *was,
    const struct schedule *now, uint64_t samples)
{
	uint64_t then = was->epoch > 0 ?
	    (uint64_t)llround((double)was->clips / was->epoch) : samples;
	struct schedule *beside;
	char history[33], *text = NULL;

	if (then != samples)
		return xprintf("schedule: an epoch had %" PRIu64
		    " samples and has %" PRIu64 " now", then, samples);
	beside = resume_beside(path);
	if (beside != NULL && strcmp(was->history, hash128_text(
	    schedule_prefix_hash(beside, samples, was->step), history)) == 0)
		text = resume_step(beside, now, samples, was->step);
	schedule_free(beside);
	return text != NULL ? text : xprintf("schedule: the first %" PRIu64
	    " steps differ from those of the run", was->step);
}

/* ---- comparison ---- */

struct fingerprint
resume_fingerprint(const struct state *s)
{
	return (struct fingerprint){ .build = s->build, .results = s->results,
		.isa = s->isa, .library = s->library,
		.precision = s->precision, .choices = s->choices,
		.network = s->network, .classes = s->class_hash,
		.data = s->dataset, .flips = s->flips,
		.class_weights = s->class_weights,
		.schedule = s->history, .order = s->order,
		.settings = s->config };
}

/* The two sides of a comparison. */
struct resume_sides {
	const struct resume *was;
	const struct state *now;
	const struct schedule *schedule;
	uint64_t samples;
};

static char *
resume_say(const void *sides, const char *name)
{
	const struct resume_sides *s = sides;
	const struct state *was = &s->was->state;

	return strcmp(name, "network") == 0 ? resume_network(was, s->now) :
	    strcmp(name, "classes") == 0 ? resume_classes(was, s->now) :
	    strcmp(name, "flips") == 0 ? resume_flips(was, s->now) :
	    strcmp(name, "schedule") == 0 ? resume_schedule(s->was->path,
	    was, s->schedule, s->samples) : NULL;
}

int
resume_check(const struct resume *r, const struct state *now,
    const struct schedule *schedule, uint64_t samples,
    const struct option_list *override)
{
	const struct resume_sides sides = { r, now, schedule, samples };
	const struct fingerprint was = resume_fingerprint(&r->state);
	const struct fingerprint is = resume_fingerprint(now);

	return agree_resume(r->path, &was, &is, override, resume_say, &sides);
}
