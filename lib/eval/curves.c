/* Curves of runs: find the runs, and write their points. */
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/table.h"
#include "base/text.h"
#include "draw/plot.h"
#include "eval/curves.h"

#define Q text_quote

/* ---- runs ---- */

/* Return the curve called ${name}; create it if it is new. */
static struct curves_line *
curves_line_of(struct curves *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->line[i].name, name) == 0)
			return &c->line[i];
	c->line = array_reserve(c->line, c->n, &c->cap, sizeof(*c->line));
	c->line[c->n] = (struct curves_line){ .name = xstrdup(name) };
	return &c->line[c->n++];
}

static int
curves_add_run(struct curves_line *l, const char *path)
{
	struct history *h;
	int bad;

	l->run = array_reserve(l->run, l->runs, &l->cap, sizeof(*l->run));
	h = &l->run[l->runs++];
	if ((bad = history_read(h, path)) != 0)
		return exit_of(bad);
	for (size_t i = 0; i + 1 < l->runs; i++)
		if (strcmp(l->run[i].log, h->log) == 0) {
			fail("%s: listed twice in the mean of %s", Q(path),
			    Q(l->name));
			return EXIT_USAGE;
		}
	if (h->series[HISTORY_LOSS].n + h->series[HISTORY_TOP1].n == 0)
		warning("%s: no step yet", Q(h->log));
	if (l->schedule == NULL)
		l->schedule = h->schedule;
	return 0;
}

/* Add a run, or all that match a glob pattern, in the order of their names. */
static int
curves_add_runs(struct curves_line *l, const char *pattern)
{
	glob_t found = { 0 };
	int status = 0, bad;

	if (access(pattern, F_OK) == 0)
		return curves_add_run(l, pattern);
	bad = glob(pattern, GLOB_ERR, NULL, &found);
	if (bad == GLOB_NOMATCH)
		fail("%s: no such run", Q(pattern));
	else if (bad != 0)
		fail_errno("%s: cannot look for runs", Q(pattern));
	for (size_t i = 0; bad == 0 && i < found.gl_pathc && status == 0; i++)
		status = curves_add_run(l, found.gl_pathv[i]);
	globfree(&found);
	return bad != 0 ? EXIT_FAILED : status;
}

/* Add "NAME=RUN,RUN,...", or a single run. */
static int
curves_add(struct curves *c, const char *text)
{
	const char *equals = strchr(text, '=');
	char *copy, *list, *item;
	struct curves_line *l;
	int status = 0;

	/* A file whose name contains '=' or ',' is a run, not a list. */
	if (access(text, F_OK) == 0)
		return curves_add_run(curves_line_of(c, text), text);
	copy = list = xstrdup(text);
	if (equals != NULL)
		strsep(&list, "=");
	l = curves_line_of(c, copy);
	l->named |= equals != NULL;
	while (status == 0 && (item = strsep(&list, ",")) != NULL)
		if (item[0] != '\0')
			status = curves_add_runs(l, item);
		else {
			fail("--checkpoint=%s: a run without a name", text);
			status = EXIT_USAGE;
		}
	free(copy);
	return status;
}

/*
 * Shorten the names of unnamed curves to the last component of their paths,
 * unless two of them would be equal.
 */
static void
curves_shorten_names(struct curves *c)
{
	char **name = xcalloc(c->n, sizeof(*name));
	int same = 0;

	for (size_t i = 0; i < c->n; i++) {
		const char *full = c->line[i].name;
		size_t end = strlen(full), from;

		while (end > 1 && full[end - 1] == '/')
			end--;
		for (from = end; from > 0 && full[from - 1] != '/'; )
			from--;
		name[i] = xstrndup(full + from, end - from);
		for (size_t k = 0; k < i; k++)
			same |= strcmp(name[i], name[k]) == 0;
	}
	for (size_t i = 0; i < c->n; i++) {
		int shorten = !same && !c->line[i].named;

		free(shorten ? c->line[i].name : name[i]);
		if (shorten)
			c->line[i].name = name[i];
	}
	free(name);
}

/* Count the series of runs; check that over the batch each has what it needs.
 * Set c->accuracy.  Return 0, or -1 after a message. */
static int
curves_check(struct curves *c)
{
	size_t top1 = 0, maps = 0;

	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < c->line[i].runs; k++) {
			const struct history *h = &c->line[i].run[k];
			int validated = h->series[HISTORY_TOP1].n > 0;

			top1 += validated;
			maps += h->series[HISTORY_MAP].n > 0;
			if (c->over == CURVES_OVER_TIME)
				continue;
			if (h->schedule == NULL)
				return fail("%s: no schedule.tsv beside it, "
				    "which has the batch", Q(h->log));
			if (!validated)
				return fail("%s: no validation yet; wait for "
				    "it, or train with --val=DIR", Q(h->log));
		}
	c->accuracy = maps > 0 && maps == top1 ? HISTORY_MAP : HISTORY_TOP1;
	return 0;
}

static int
curves_read(struct curves *c, const struct option_list *runs)
{
	int status = 0;

	for (size_t i = 0; i < runs->n && status == 0; i++)
		status = curves_add(c, runs->item[i]);
	if (status != 0)
		return status;
	if (curves_check(c) != 0 || curves_take_means(c) != 0)
		return EXIT_FAILED;
	curves_shorten_names(c);
	return 0;
}

static void
curves_free(struct curves *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct curves_line *l = &c->line[i];

		for (size_t k = 0; k < l->runs; k++)
			history_free(&l->run[k]);
		free(l->run);
		free(l->name);
	}
	free(c->line);
	free(c->point);
}

/* ---- the table as text ---- */

/* Columns that are not numbers. */
enum { CURVES_NAME = CURVES_NUMBERS, CURVES_SERIES, CURVES_CELLS };

/* The columns over time, and over the batch; a NULL head ends them. */
static const struct curves_column { const char *head; int what; }
    curves_columns[][10] = { {
	{ "#curve", CURVES_NAME }, { "series", CURVES_SERIES },
	{ "epoch", CURVES_EPOCH }, { "seconds", CURVES_SECONDS },
	{ "value", CURVES_VALUE }, { "error", CURVES_ERROR },
	{ "runs", CURVES_RUNS }, { "cells", CURVES_CELLS } }, {
	{ "#curve", CURVES_NAME }, { "batch", CURVES_BATCH },
	{ "lr", CURVES_LR }, { "steps", CURVES_STEPS },
	{ "seconds", CURVES_SECONDS }, { "series", CURVES_SERIES },
	{ "value", CURVES_VALUE }, { "error", CURVES_ERROR },
	{ "runs", CURVES_RUNS } } };

/*
 * Append the cells of the steps that lead up to point ${p}, such as
 * "8x4x112,16x4x80".  At a boundary, they are those of the earlier stage.
 */
static void
curves_add_cells(struct buffer *b, const struct schedule *s,
    const struct curves_point *p)
{
	const struct stage *g = s == NULL || p->series == CURVES_REACHED ?
	    NULL : schedule_stage(s, (int)fmax(ceil(p->v[CURVES_EPOCH]) - 1,
	    0));

	for (int i = 0; g != NULL && i < g->cells; i++)
		buffer_printf(b, "%s%dx%dx%d", i > 0 ? "," : "",
		    g->cell[i].batch, g->cell[i].frames, g->cell[i].crop);
}

/* Append column ${k} of point ${p}; a number only if it is finite. */
static void
curves_add_column(struct buffer *b, const struct curves_line *l,
    const struct curves_point *p, int k)
{
	static const char *const series[] = { "loss", "top1", "map",
		"val_loss", "reached" };
	char text[32];

	if (k == CURVES_NAME)
		table_put(b, l->name);
	else if (k == CURVES_SERIES)
		buffer_text(b, series[p->series]);
	else if (k == CURVES_CELLS)
		curves_add_cells(b, l->schedule, p);
	else if (isfinite(p->v[k]))
		buffer_text(b, text_real_write(text, p->v[k]));
}

static int
curves_write(const struct curves *c, const char *path)
{
	const struct curves_column *column = curves_columns[c->over];
	struct buffer b = { 0 };
	int bad;

	for (int k = 0; column[k].head != NULL; k++)
		buffer_printf(&b, "%s%s", k > 0 ? "\t" : "", column[k].head);
	for (size_t i = 0; i < c->points; i++)
		for (int k = 0; column[k].head != NULL; k++) {
			buffer_text(&b, k > 0 ? "\t" : "\n");
			curves_add_column(&b, &c->line[c->point[i].line],
			    &c->point[i], column[k].what);
		}
	buffer_text(&b, "\n");
	bad = commit_bytes(path, b.data, b.n);
	buffer_free(&b);
	return bad;
}

int
curves_run(const struct option_list *files, const struct option_list *runs,
    int over, double target)
{
	struct curves c = { .over = over, .target = target };
	int status = 0;

	for (size_t i = 0; i < files->n && status == 0; i++)
		if (!text_ends(files->item[i], ".tsv") &&
		    plot_ready(files->item[i]) != 0)
			status = EXIT_USAGE;
		else if (commit_possible(files->item[i]) != 0)
			status = EXIT_FAILED;
	if (status == 0)
		status = curves_read(&c, runs);
	for (size_t i = 0; i < files->n && status == 0; i++)
		if ((text_ends(files->item[i], ".tsv") ? curves_write :
		    curves_draw)(&c, files->item[i]) != 0)
			status = EXIT_FAILED;
	curves_free(&c);
	return status;
}
