/* Curves of runs: find the runs, and average several into one curve. */
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
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
		return bad == -2 ? EXIT_DAMAGE : EXIT_FAILED;
	for (size_t i = 0; i + 1 < l->runs; i++)
		if (strcmp(l->run[i].log, h->log) == 0) {
			fail("%s: listed twice in the mean of %s", Q(path),
			    Q(l->name));
			return EXIT_USAGE;
		}
	if (h->series[HISTORY_LOSS].n + h->series[HISTORY_TOP1].n == 0)
		warning("%s: no step yet", Q(h->log));
	return 0;
}

/*
 * Add a run, or all runs that match a glob pattern, in the order of their
 * names.
 */
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

/* Parse "NAME=RUN,RUN,...", or a single run. */
static int
curves_add_model(struct curves *c, const char *text)
{
	const char *equals = strchr(text, '=');
	char *list, *name, *next;
	struct curves_line *l;
	int status = 0;

	/* A file whose name contains '=' or ',' is a run, not a list. */
	if (access(text, F_OK) == 0)
		return curves_add_run(curves_line_of(c, text), text);
	name = equals == NULL ? xstrdup(text) :
	    xstrndup(text, (size_t)(equals - text));
	l = curves_line_of(c, name);
	l->named |= equals != NULL;
	free(name);
	list = xstrdup(equals == NULL ? text : equals + 1);
	for (char *item = list; item != NULL && status == 0; item = next) {
		if ((next = strchr(item, ',')) != NULL)
			*next++ = '\0';
		if (item[0] != '\0') {
			status = curves_add_runs(l, item);
			continue;
		}
		fail("--checkpoint=%s: a run without a name", text);
		status = EXIT_USAGE;
	}
	free(list);
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
		char *path = xstrdup(c->line[i].name);
		size_t n = strlen(path);

		while (n > 1 && path[n - 1] == '/')
			path[--n] = '\0';
		name[i] = xstrdup(path_base(path));
		free(path);
		for (size_t k = 0; k < i; k++)
			same |= strcmp(name[i], name[k]) == 0;
	}
	for (size_t i = 0; i < c->n; i++) {
		char **longer = &c->line[i].name;

		if (same || c->line[i].named) {
			free(name[i]);
			continue;
		}
		free(*longer);
		*longer = name[i];
	}
	free(name);
}

/* ---- means ---- */

/*
 * Interpolate ${s} linearly at ${epoch}.  Up to ${near} beyond its ends, use
 * the end point.  Return 0, or -1 if it has no value there.
 */
static int
curves_at_epoch(const struct history_series *s, double epoch, double near,
    struct history_point *to)
{
	const struct history_point *a, *b;
	size_t k = 0, end = s->n;
	double t;

	if (s->n == 0 || epoch < s->at[0].epoch - near ||
	    epoch > s->at[s->n - 1].epoch + near)
		return -1;
	while (k < end) {		/* bisect: the first point not before */
		size_t middle = k + (end - k) / 2;

		if (s->at[middle].epoch < epoch)
			k = middle + 1;
		else
			end = middle;
	}
	if (k == 0 || k == s->n || s->at[k].epoch == epoch) {
		*to = s->at[k < s->n ? k : k - 1];
		return 0;
	}
	a = &s->at[k - 1];
	b = &s->at[k];
	t = (epoch - a->epoch) / (b->epoch - a->epoch);
	to->seconds = a->seconds + t * (b->seconds - a->seconds);
	to->value = a->value + t * (b->value - a->value);
	return 0;
}

/*
 * Compute the mean of all runs at ${epoch} and its standard error.  Return 0,
 * or -1 if a run has no value there.
 */
static int
curves_mean_at(const struct curves_line *l, int of, double epoch, double near,
    struct curves_point *to)
{
	double n = (double)l->runs, square = 0;
	struct history_point p = { 0 };

	*to = (struct curves_point){ .epoch = epoch };
	for (size_t i = 0; i < l->runs; i++) {
		if (curves_at_epoch(&l->run[i].series[of], epoch, near, &p) !=
		    0)
			return -1;
		to->seconds += p.seconds / n;
		to->value += p.value / n;
	}
	for (size_t i = 0; i < l->runs; i++) {
		curves_at_epoch(&l->run[i].series[of], epoch, near, &p);
		square += (p.value - to->value) * (p.value - to->value);
	}
	/* s / sqrt(n), with s^2 = sum (x - mean)^2 / (n - 1) */
	to->error = l->runs > 1 ? sqrt(square / (n - 1) / n) : NAN;
	return 0;
}

/*
 * Return half the distance from point ${k} to the one before; for the first
 * point, to the one after.
 */
static double
curves_half_step(const struct history_series *s, size_t k)
{
	if (s->n < 2)
		return 0;
	if (k == 0)
		k = 1;
	return (s->at[k].epoch - s->at[k - 1].epoch) / 2;
}

/* Return the run whose points end first. */
static const struct history *
curves_shortest(const struct curves_line *l, int of)
{
	const struct history *least = &l->run[0];
	double end = INFINITY;

	for (size_t i = 0; i < l->runs; i++) {
		const struct history_series *s = &l->run[i].series[of];
		double here = s->n > 0 ? s->at[s->n - 1].epoch : -1;

		if (here < end)
			least = &l->run[i];
		end = fmin(end, here);
	}
	return least;
}

static void
curves_take_mean(struct curves_line *l, int of)
{
	static const char *const what[] = { "loss", "top-1", "mAP",
		"validation loss" };
	const struct history_series *grid = &l->run[0].series[of];
	size_t n = 0;

	for (size_t i = 1; i < l->runs; i++)
		if (l->run[i].series[of].n > grid->n)
			grid = &l->run[i].series[of];
	l->series[of].at = xcalloc(grid->n + 1, sizeof(struct curves_point));
	for (size_t k = 0; k < grid->n; k++)
		n += curves_mean_at(l, of, grid->at[k].epoch,
		    curves_half_step(grid, k), &l->series[of].at[n]) == 0;
	l->series[of].n = n;
	/*
	 * The last lines of runs that end together may be a few steps apart:
	 * one missing point is not reported.
	 */
	if (n + 1 >= grid->n && (n > 0 || grid->n == 0))
		return;
	if (n == 0)
		warning("%s: no epoch at which all its runs have the %s; %s "
		    "has the fewest", Q(l->name), what[of],
		    Q(curves_shortest(l, of)->log));
	else
		note("%s: the mean of the %s covers epochs %.4g to %.4g; %s "
		    "ends first", Q(l->name), what[of],
		    l->series[of].at[0].epoch, l->series[of].at[n - 1].epoch,
		    Q(curves_shortest(l, of)->log));
}

/* Take the means of all curves over time.  Return 0, or -1 after a message. */
static int
curves_take_means(struct curves *c)
{
	size_t points = 0;

	for (size_t i = 0; i < c->n; i++)
		for (int of = 0; of < HISTORY_SERIES; of++) {
			curves_take_mean(&c->line[i], of);
			points += c->line[i].series[of].n;
		}
	if (points == 0)
		fail("nothing to draw: no run has a step yet");
	return points == 0 ? -1 : 0;
}

/*
 * Check that each run has a batch and an accuracy.  Return 0, or -1 after a
 * message.
 */
static int
curves_check_batches(const struct curves *c)
{
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < c->line[i].runs; k++) {
			const struct history *h = &c->line[i].run[k];

			if (h->schedule == NULL) {
				fail("%s: no schedule.tsv beside it, which has "
				    "the batch", Q(h->log));
				return -1;
			}
			if (h->series[HISTORY_TOP1].n == 0) {
				fail("%s: no validation yet; wait for it, or "
				    "train with --val=DIR", Q(h->log));
				return -1;
			}
		}
	return 0;
}

int
curves_read(struct curves *c, const struct option_list *models)
{
	int status = 0;

	for (size_t i = 0; i < models->n && status == 0; i++)
		status = curves_add_model(c, models->item[i]);
	if (status != 0)
		return status;
	if ((c->over == CURVES_BATCH ? curves_check_batches(c) :
	    curves_take_means(c)) != 0)
		return EXIT_FAILED;
	curves_shorten_names(c);
	return 0;
}

int
curves_accuracy(const struct curves *c)
{
	size_t top1 = 0, maps = 0;

	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < c->line[i].runs; k++) {
			const struct history *h = &c->line[i].run[k];

			top1 += h->series[HISTORY_TOP1].n > 0;
			maps += h->series[HISTORY_MAP].n > 0;
		}
	return maps > 0 && maps == top1 ? HISTORY_MAP : HISTORY_TOP1;
}

struct curves_reach
curves_reach(const struct curves_line *l, int of, double target)
{
	struct curves_reach r = { 0 };

	for (size_t i = 0; i < l->runs; i++) {
		const struct history_series *s = &l->run[i].series[of];
		size_t k = 0;

		while (k < s->n && !(s->at[k].value >= target &&
		    (k + 1 == s->n || s->at[k + 1].value >= target)))
			k++;
		if (k == s->n)
			continue;
		r.runs++;
		r.epoch += s->at[k].epoch;
		r.seconds += s->at[k].seconds;
	}
	if (r.runs > 0) {
		r.epoch /= (double)r.runs;
		r.seconds /= (double)r.runs;
	}
	return r;
}

const struct schedule *
curves_schedule(const struct curves_line *l)
{
	for (size_t i = 0; i < l->runs; i++)
		if (l->run[i].schedule != NULL)
			return l->run[i].schedule;
	return NULL;
}

void
curves_free(struct curves *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct curves_line *l = &c->line[i];

		for (size_t k = 0; k < l->runs; k++)
			history_free(&l->run[k]);
		for (int of = 0; of < HISTORY_SERIES; of++)
			free(l->series[of].at);
		free(l->run);
		free(l->name);
	}
	free(c->line);
	*c = (struct curves){ 0 };
}
