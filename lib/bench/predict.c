/*
 * Predict training runs on a cluster: time, efficiency, price, and what limits
 * each phase.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/prediction.h"
#include "draw/plot.h"

enum { QUANTILES = 3 };
static const double quantiles[QUANTILES] = { 0.1, 0.5, 0.9 };

/*
 * Quantiles of efficiency and time for the picture, of each algorithm at each
 * number of ranks.
 */
struct predict_points { struct figure efficiency[QUANTILES], time[QUANTILES]; };

/* Return 1 if the seeds of a run differ by more than the profile does. */
static int
predict_spreads(const struct prediction *p)
{
	const double *v = p->cluster.v;

	return v[JITTER] > 0 || v[SKEW] > 0 || v[MTBF] > 0;
}

/*
 * Say what the cluster lacks, so that a time without spread does not look
 * certain.
 */
static void
predict_note_missing(const struct prediction *p)
{
	static const struct { int property; const char *name; } row[] = {
		{ JITTER, "jitter" }, { SKEW, "skew" }, { START, "start" } };
	struct buffer b = { 0 };

	for (int i = 0; i < 3; i++)
		if (p->cluster.v[row[i].property] == 0)
			buffer_printf(&b, "%sno cluster/%s", b.n > 0 ? ", " :
			    "", row[i].name);
	if (b.n > 0)
		note("%s has %s: the prediction is too low%s (--set=NAME=VALUE "
		    "adds them)", text_quote(p->o->links), b.data,
		    predict_spreads(p) ? "" : " and has no spread");
	buffer_free(&b);
}

/* ---- rows ---- */

/* Print the shares of the parts of each phase. */
static void
predict_print_phases(const struct prediction *p)
{
	for (size_t i = 0; i < p->phases; i++) {
		const struct prediction_phase *f = &p->phase[i];
		const struct bench_shape *s = &f->cell->shape;
		char prefix[300], note[80];
		double all = 0;
		int most = 0;

		for (int m = 0; m < CLUSTER_PARTS; m++) {
			all += f->part[m];
			most = f->part[m] > f->part[most] ? m : most;
		}
		snprintf(prefix, sizeof(prefix), "%s/phase/%dx%dx%d", p->prefix,
		    f->batch > 0 ? f->batch : p->lists.ranks * s->n, s->t,
		    s->side);
		snprintf(note, sizeof(note), "bound by %s; %llu steps",
		    cluster_part_names[most], (unsigned long long)f->steps);
		bench_value(p->b, all, "s", note, "%s/step", prefix);
		for (int m = 0; m < CLUSTER_PARTS; m++)
			bench_value(p->b, f->part[m] / all, "share", NULL,
			    "%s/%s", prefix, cluster_part_names[m]);
	}
}

/* Print the time and the price of the whole run. */
static void
predict_print_run(const struct prediction *p)
{
	int spreads = predict_spreads(p), from = spreads ? 0 : 1;
	int end = spreads ? QUANTILES : from + 1;

	for (int i = from; i < end; i++)
		bench_value(p->b, figure_quantile(&p->time, quantiles[i]), "s",
		    !spreads ? "no spread" : i == from ?
		    "quantiles of 20 seeds" : NULL, "%s/time/p%.0f", p->prefix,
		    100 * quantiles[i]);
	if (p->cluster.v[MTBF] > 0)
		bench_value(p->b, (double)p->failures / PREDICT_SEEDS,
		    "failures", "mean of 20 seeds", "%s/failures", p->prefix);
	for (int i = from; i < end && p->o->price > 0; i++)
		bench_value(p->b, figure_quantile(&p->time, quantiles[i]) /
		    3600 * p->lists.ranks * p->o->price, "price", NULL,
		    "%s/price/p%.0f", p->prefix, 100 * quantiles[i]);
}

/* Print the rows of one number of ranks, and add its points to ${arg}. */
static void
predict_print(struct prediction *p, void *arg)
{
	struct predict_points *points = arg;
	const struct figure *time = p->o->schedule != NULL ? &p->time :
	    &p->step;
	struct figure efficiency = { 0 };
	int base = (int)p->o->base;
	char note[40];

	for (size_t k = 0; k < p->rate.n; k++)
		figure_add(&efficiency, prediction_efficiency(p,
		    p->rate.v[k]));
	snprintf(note, sizeof(note), "to %d rank%s", base, base > 1 ? "s" : "");
	bench_row(p->b, &p->step, "s", "mean of a run; one value per seed",
	    "%s/step", p->prefix);
	bench_row(p->b, &p->rate, "clips/s", NULL, "%s/clips", p->prefix);
	bench_row(p->b, &efficiency, "share", note, "%s/efficiency", p->prefix);
	predict_print_phases(p);
	if (p->o->schedule != NULL)
		predict_print_run(p);
	for (int q = 0; q < QUANTILES; q++) {
		figure_add(&points->efficiency[q], figure_quantile(&efficiency,
		    quantiles[q]));
		figure_add(&points->time[q], figure_quantile(time,
		    quantiles[q]));
	}
	figure_free(&efficiency);
}

/* ---- the picture ---- */

/*
 * Choose the unit of times and its label in ${y}, by the medians of the first
 * algorithm, time[n].  Return the unit in seconds.
 */
static double
predict_plot_unit(struct plot_axis *y, const double *time, int n, int runs)
{
	double least = time[0], most = time[0], unit = 1;

	for (int i = 0; i < n; i++) {
		least = time[i] < least ? time[i] : least;
		most = time[i] > most ? time[i] : most;
	}
	/* A logarithmic axis needs a decade for its labels. */
	if (most < 10 * least)
		y->log = 0;
	if (!runs)
		return unit;
	unit = most < 600 ? 1 : most < 2 * 3600 ? 60 : 3600;
	y->label = unit == 1 ? "time of the run, s" : unit == 60 ?
	    "time of the run, min" : "time of the run, h";
	return unit;
}

/* Draw the points over the ranks. */
static int
predict_plot(const struct prediction *p, struct predict_points *points)
{
	const struct predict_options *o = p->o;
	int spreads = predict_spreads(p), n = p->counts, bad;
	struct plot_series *series = xcalloc(2 * o->names, sizeof(*series));
	double x[PREDICT_COUNTS], unit;
	struct plot_panel panel[2] = {
		{ .y = { "efficiency", 0, 1, 0 } },
		{ .y = { "time of a step, s", 0, 0, 10 } } };
	struct plot plot = { .title = "Predicted runs", .note = spreads ?
		"Median of 20 seeds; shaded: P10 to P90" : "Median of 20 "
		"seeds; no jitter and no skew of ranks is assumed", .w = 640,
		    .h = 560,
		.x = { "ranks", 0, 0, 2 }, .panel = panel, .panels = 2 };

	unit = predict_plot_unit(&panel[1].y, points->time[1].v, n,
	    o->schedule != NULL);
	for (int q = 0; q < QUANTILES; q++)
		for (size_t i = 0; i < points->time[q].n; i++)
			points->time[q].v[i] /= unit;
	for (int i = 0; i < n; i++)
		x[i] = p->ranks[i];
	for (size_t i = 0; i < 2 * o->names; i++) {
		size_t k = i / o->names, name = i % o->names;
		const struct figure *f = k == 0 ? points->efficiency :
		    points->time;
		size_t from = name * (size_t)n;

		series[i] = (struct plot_series){ .name = o->name[name], .n = n,
			.x = x, .y = f[1].v + from, .low = spreads ? f[0].v +
			from : NULL, .high = spreads ? f[2].v + from : NULL,
			.style = (int)name, .marks = 1 };
		panel[k].series = series + k * o->names;
		panel[k].n = (int)o->names;
	}
	bad = plot_draw(&plot, 1, o->plot);
	free(series);
	return bad;
}

/* ---- the case ---- */

int
bench_predict(struct bench *b, const struct predict_options *o)
{
	struct predict_points points = { 0 };
	struct prediction p;
	int bad = prediction_open(&p, b, o, o->profiles.item[0]) != 0;

	if (!bad) {
		predict_note_missing(&p);
		bench_remark(b, "%zu gradients in buckets of %.0f bytes, %.0f "
		    "ranks a host", p.profile->elements, p.cluster.v[BUCKET],
		    p.cluster.v[RANKS_PER_HOST]);
	}
	for (size_t i = 0; i < o->names && !bad; i++)
		bad = prediction_walk(&p, "cluster", o->name[i], predict_print,
		    &points);
	if (!bad && o->plot != NULL)
		bad = predict_plot(&p, &points);
	for (int q = 0; q < QUANTILES; q++) {
		figure_free(&points.efficiency[q]);
		figure_free(&points.time[q]);
	}
	prediction_close(&p);
	return bad ? EXIT_USAGE : 0;
}
