/* The points of curves: means over runs, at an epoch or for a batch. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/text.h"
#include "eval/curves.h"
#include "sched/curve.h"

#define Q text_quote

/*
 * Append the mean of ${sample}[n] to the points of ${c}.  Divide the numbers by
 * ${first} before they are added, and the sum by the rest: the two orders round
 * differently.
 */
static struct curves_point *
curves_add_mean(struct curves *c, size_t line, int series,
    const struct curves_point *sample, size_t n, double first)
{
	struct curves_point p = { .line = line, .series = series };
	double square = 0, runs = (double)n;

	for (int m = 0; m <= CURVES_VALUE; m++) {
		for (size_t i = 0; i < n; i++)
			p.v[m] += sample[i].v[m] / first;
		p.v[m] /= runs / first;
	}
	for (size_t i = 0; i < n; i++) {
		double d = sample[i].v[CURVES_VALUE] - p.v[CURVES_VALUE];

		square += d * d;
	}
	/* s / sqrt(n), with s^2 = sum (x - mean)^2 / (n - 1) */
	p.v[CURVES_ERROR] = n > 1 ? sqrt(square / (runs - 1) / runs) : NAN;
	p.v[CURVES_RUNS] = runs;
	c->point = array_reserve(c->point, c->points, &c->point_cap,
	    sizeof(*c->point));
	c->point[c->points] = p;
	return &c->point[c->points++];
}

/* ---- over time ---- */

/*
 * Interpolate ${s} linearly at ${epoch}.  Up to ${near} beyond its ends, use
 * the end point.  Return 0, or -1 if it has no value there.
 */
static int
curves_at_epoch(const struct history_series *s, double epoch, double near,
    struct curves_point *to)
{
	struct history_point a, b;
	size_t k = 0, end = s->n;
	double t = 0;

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
	a = b = s->at[k < s->n ? k : k - 1];
	if (k > 0 && k < s->n && b.epoch != epoch) {
		a = s->at[k - 1];
		t = (epoch - a.epoch) / (b.epoch - a.epoch);
	}
	to->v[CURVES_SECONDS] = a.seconds + t * (b.seconds - a.seconds);
	to->v[CURVES_VALUE] = a.value + t * (b.value - a.value);
	return 0;
}

/* Return the log of the run whose points end first. */
static const char *
curves_shortest(const struct curves_line *l, int of)
{
	const struct history *least = &l->run[0];
	double end = INFINITY;

	for (size_t i = 0; i < l->runs; i++) {
		const struct history_series *s = &l->run[i].series[of];
		double here = s->n > 0 ? s->at[s->n - 1].epoch : -1;

		if (here < end) {
			least = &l->run[i];
			end = here;
		}
	}
	return least->log;
}

/* Take the means of series ${of} of a curve; ${sample} has a place for each of
 * its runs. */
static void
curves_over_time(struct curves *c, size_t line, int of,
    struct curves_point *sample)
{
	static const char *const what[] = { "loss", "top-1", "mAP",
		"validation loss" };
	const struct curves_line *l = &c->line[line];
	const struct history_series *grid = &l->run[0].series[of];
	size_t first = c->points, n;

	for (size_t i = 1; i < l->runs; i++)
		if (l->run[i].series[of].n > grid->n)
			grid = &l->run[i].series[of];
	for (size_t k = 0; k < grid->n; k++) {
		const struct history_point *at = &grid->at[k > 0 ? k : 1];
		/* Half the distance to the point before, or after the first. */
		double near = grid->n < 2 ? 0 : (at->epoch - at[-1].epoch) / 2;
		double epoch = grid->at[k].epoch;
		size_t i = 0;

		while (i < l->runs && curves_at_epoch(&l->run[i].series[of],
		    epoch, near, &sample[i]) == 0)
			i++;
		if (i == l->runs)
			curves_add_mean(c, line, of, sample, l->runs,
			    (double)l->runs)->v[CURVES_EPOCH] = epoch;
	}
	n = c->points - first;
	/*
	 * The last lines of runs that end together may be a few steps apart:
	 * one missing point is not reported.
	 */
	if (n + 1 >= grid->n && (n > 0 || grid->n == 0))
		return;
	if (n == 0)
		warning("%s: no epoch at which all its runs have the %s; %s "
		    "has the fewest", Q(l->name), what[of],
		    Q(curves_shortest(l, of)));
	else
		note("%s: the mean of the %s covers epochs %.4g to %.4g; %s "
		    "ends first", Q(l->name), what[of],
		    c->point[first].v[CURVES_EPOCH],
		    c->point[c->points - 1].v[CURVES_EPOCH],
		    Q(curves_shortest(l, of)));
}

/* Add the point where the runs of a curve reach the target. */
static void
curves_add_reached(struct curves *c, size_t line, struct curves_point *sample)
{
	const struct curves_line *l = &c->line[line];
	struct curves_point *p;
	size_t n = 0;

	for (size_t i = 0; i < l->runs; i++) {
		const struct history_series *s = &l->run[i].series[c->accuracy];
		size_t k = 0;

		while (k < s->n && !(s->at[k].value >= c->target &&
		    (k + 1 == s->n || s->at[k + 1].value >= c->target)))
			k++;
		if (k == s->n)
			continue;
		sample[n].v[CURVES_EPOCH] = s->at[k].epoch;
		sample[n++].v[CURVES_SECONDS] = s->at[k].seconds;
	}
	p = curves_add_mean(c, line, CURVES_REACHED, sample, n, 1);
	p->v[CURVES_VALUE] = c->target;
	p->v[CURVES_ERROR] = NAN;
}

/* ---- over the batch ---- */

/* Return the point of a run after training. */
static struct curves_point
curves_last(const struct history *h, int of)
{
	const struct stage *g = &h->schedule->stage[h->schedule->stages - 1];
	const struct history_series *s = &h->series[of];
	const struct history_point *last = &s->at[s->n - 1];
	struct curve lr = curve_lr(h->schedule);
	struct curves_point p = { .v = { [CURVES_SECONDS] = last->seconds,
		[CURVES_STEPS] = (double)last->step,
		[CURVES_LR] = curve_max(&lr),
		[CURVES_BATCH] = g->cell[g->cells - 1].batch,
		[CURVES_VALUE] = last->value } };

	curve_free(&lr);
	return p;
}

/* Sort by batch, runs of one batch by their order. */
static int
curves_by_batch(const void *a, const void *b)
{
	const struct curves_point *x = a, *y = b;
	double d = x->v[CURVES_BATCH] - y->v[CURVES_BATCH];

	return d != 0 ? (d > 0) - (d < 0) : (x->line > y->line) -
	    (x->line < y->line);
}

static void
curves_over_batch(struct curves *c, size_t line, struct curves_point *sample)
{
	const struct curves_line *l = &c->line[line];

	for (size_t i = 0; i < l->runs; i++) {
		sample[i] = curves_last(&l->run[i], c->accuracy);
		sample[i].line = i;
	}
	qsort(sample, l->runs, sizeof(*sample), curves_by_batch);
	for (size_t i = 0, n; i < l->runs; i += n) {
		for (n = 1; i + n < l->runs && sample[i + n].v[CURVES_BATCH] ==
		    sample[i].v[CURVES_BATCH]; )
			n++;
		curves_add_mean(c, line, c->accuracy, &sample[i], n, 1);
	}
}

/* ---- all points ---- */

int
curves_take_means(struct curves *c)
{
	struct curves_point *sample;
	size_t runs = 0;

	for (size_t i = 0; i < c->n; i++)
		runs += c->line[i].runs;
	sample = xcalloc(runs, sizeof(*sample));
	for (size_t i = 0; i < c->n; i++)
		if (c->over == CURVES_OVER_BATCH)
			curves_over_batch(c, i, sample);
		else
			for (int of = 0; of < HISTORY_SERIES; of++)
				curves_over_time(c, i, of, sample);
	if (c->points == 0)
		fail("nothing to draw: no run has a step yet");
	for (size_t i = 0; c->points > 0 && i < c->n && c->target > 0; i++)
		curves_add_reached(c, i, sample);
	free(sample);
	return c->points == 0 ? -1 : 0;
}

const struct curves_point *
curves_points(const struct curves *c, size_t line, int series, size_t *n)
{
	const struct curves_point *p = c->point, *end = p + c->points, *from;

	while (p < end && (p->line != line || p->series != series))
		p++;
	from = p;
	while (p < end && p->line == line && p->series == series)
		p++;
	*n = (size_t)(p - from);
	return from;
}
