/*
 * Simulate training runs on a cluster: time, efficiency, price, and what limits
 * each phase.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "bench/cases.h"
#include "draw/plot.h"

enum { DRAWN = 100 };			/* steps of a phase and seed; their mean
					 * is that of all */
enum { QUANTILES = 3 };
static const double quantiles[QUANTILES] = { 0.1, 0.5, 0.9 };

/* ---- phases and numbers of ranks ---- */

static int
predict_add(struct predict *p, const struct bench_shape *s, int batch,
    uint64_t steps)
{
	struct step_cell *cell = step_profile_cell(p->profile, s);

	if (cell == NULL)
		return -1;
	for (size_t i = 0; i < p->phases; i++)
		if (p->phase[i].cell == cell && p->phase[i].batch == batch) {
			p->phase[i].steps += steps;
			return 0;
		}
	p->phase = array_reserve(p->phase, p->phases, &p->cap,
	    sizeof(*p->phase));
	p->phase[p->phases++] = (struct predict_phase){ .batch = batch,
		.steps = steps, .cell = cell };
	return 0;
}

static int
predict_add_schedule(struct predict *p, const struct schedule *s,
    uint64_t samples)
{
	uint64_t (*steps)[SCHEDULE_CYCLE] = xcalloc((size_t)s->stages,
	    sizeof(*steps));
	int bad = 0;

	schedule_count(s, samples, steps);
	for (int i = 0; i < s->stages; i++)
		for (int k = 0; k < s->stage[i].cells && !bad; k++) {
			const struct cell *c = &s->stage[i].cell[k];

			if (steps[i][k] > 0)
				bad = predict_add(p, &(struct bench_shape){
				    c->group, c->frames, c->crop }, c->batch,
				    steps[i][k]);
		}
	free(steps);
	if (!bad && p->phases == 0)
		return fail("the schedule has no steps with %llu samples",
		    (unsigned long long)samples);
	return bad;
}

static int
predict_add_all(struct predict *p)
{
	const struct shape_list *l = &p->in->shapes;
	size_t n = l->n > 0 ? l->n : p->profile->cells;
	int bad = 0;

	if (p->in->schedule != NULL)
		return predict_add_schedule(p, p->in->schedule,
		    (uint64_t)p->o->samples);
	for (size_t i = 0; i < n && !bad; i++)
		bad = predict_add(p, l->n > 0 ? &l->item[i] :
		    &p->profile->cell[i].shape, 0, 1);
	return bad;
}

/* Return the microbatches of a step of ${phase} on ${ranks} ranks. */
static int
predict_microbatches(const struct predict_phase *phase, int ranks)
{
	int n = phase->cell->shape.n;

	return phase->batch > 0 ? (phase->batch + n - 1) / n : ranks;
}

/* List the ranks; check that each step has a microbatch for each of them. */
static int
predict_set_ranks(struct predict *p)
{
	const struct predict_options *o = p->o;
	int per_host = (int)p->cluster.v[RANKS_PER_HOST];
	int hosts = (int)p->cluster.v[HOSTS];

	if (o->counts == 0 && hosts > PREDICT_RANKS / per_host)
		return fail("%d hosts of %d ranks (wanted at most %d ranks in "
		    "all, or --ranks)", hosts, per_host, PREDICT_RANKS);
	p->ranks[p->counts++] = (int)o->base;
	for (int i = 0; i < o->counts; i++)
		p->ranks[p->counts++] = o->ranks[i];
	for (int h = 1; o->counts == 0 && h < hosts; h *= 2)
		p->ranks[p->counts++] = h * per_host;
	if (o->counts == 0)
		p->ranks[p->counts++] = hosts * per_host;
	for (int k = 0; k < p->counts; k++)
		for (size_t i = 0; i < p->phases; i++) {
			const struct predict_phase *f = &p->phase[i];
			int n = predict_microbatches(f, p->ranks[k]);

			if (n < p->ranks[k])
				return fail("%d ranks, but a batch of %d clips "
				    "has %d microbatches of %d clips",
				    p->ranks[k], f->batch, n, f->cell->shape.n);
		}
	return 0;
}

int
predict_open(struct predict *p, struct bench *b,
    const struct bench_inputs *in, const char *profile)
{
	const struct predict_options *o = &in->predict;

	*p = (struct predict){ .b = b, .in = in, .o = o };
	if (cluster_read(&p->cluster, o->links, o->hosts, o->ranks_per_host,
	    &o->settings) != 0 ||
	    (p->profile = step_profile_read(profile)) == NULL ||
	    predict_add_all(p) != 0)
		return -1;
	return predict_set_ranks(p);
}

static void
predict_clear(struct predict *p)
{
	figure_free(&p->step);
	figure_free(&p->rate);
	figure_free(&p->time);
	p->failures = 0;
	for (size_t i = 0; i < p->phases; i++)
		memset(p->phase[i].part, 0, sizeof(p->phase[i].part));
}

void
predict_close(struct predict *p)
{
	predict_clear(p);
	free(p->phase);
	step_profile_free(p->profile);
}

/* ---- one number of ranks ---- */

static double
predict_draw(void *arg)
{
	/* A draw of 24 bits is 0 in one of 16 million cases; avoid that. */
	return rng_uniform(arg) + 0x1p-25;
}

/* Simulate seed ${seed}; add to the figures and to the parts of phases. */
static void
predict_seed(struct predict *p, uint64_t seed)
{
	int ranks = p->lists.ranks, failures;
	struct rng r = rng_clip(seed, (uint64_t)ranks);
	double skew = predict_draw(&r), work = 0, clips = 0, steps = 0;

	for (size_t i = 0; i < p->phases; i++) {
		struct predict_phase *f = &p->phase[i];
		double all = 0;

		p->lists.microbatches = predict_microbatches(f, ranks);
		for (int k = 0; k < DRAWN; k++) {
			double part[CLUSTER_PARTS];

			cluster_step(&p->cluster, f->cell, &p->lists,
			    p->seconds, cluster_delay(&p->cluster, f->cell,
			    ranks, predict_draw(&r), skew), part);
			for (int m = 0; m < CLUSTER_PARTS; m++) {
				all += part[m] / DRAWN;
				f->part[m] += part[m] / DRAWN / PREDICT_SEEDS;
			}
		}
		work += all * (double)f->steps;
		steps += (double)f->steps;
		clips += (double)f->steps * p->lists.microbatches *
		    f->cell->shape.n;
	}
	figure_add(&p->step, work / steps);
	figure_add(&p->rate, clips / work);
	figure_add(&p->time, cluster_run(&p->cluster, ranks, work,
	    predict_draw, &r, &failures));
	p->failures += failures;
}

/* Simulate all seeds on ${ranks} ranks with the algorithm ${name}. */
static int
predict_simulate(struct predict *p, const char *name, int ranks)
{
	int columns, rows;
	const struct algorithm *kind = algorithm_parse(name, &columns, &rows);

	/* The messages of reports depend on the microbatches of a step; those
	 * of the first phase stand for all. */
	p->lists = (struct step_lists){ .kind = kind, .ranks = ranks,
		.wire = &wires[p->in->sums.comm_dtype],
		.columns = columns * rows == ranks ? columns : 0,
		.ranks_per_host = (int)p->cluster.v[RANKS_PER_HOST],
		.microbatches = predict_microbatches(&p->phase[0], ranks) };
	step_lists_buckets(&p->lists, p->profile->elements,
	    (size_t)p->cluster.v[BUCKET]);
	predict_clear(p);
	if (cluster_exchanges(&p->cluster, &p->lists, p->seconds) != 0)
		return -1;
	for (int seed = 1; seed <= PREDICT_SEEDS; seed++)
		predict_seed(p, (uint64_t)seed);
	return 0;
}

int
predict_walk(struct predict *p, const char *prefix, const char *name,
    void (*print)(struct predict *p, void *arg), void *arg)
{
	for (int i = 0; i < p->counts; i++) {
		if (predict_simulate(p, name, p->ranks[i]) != 0)
			return -1;
		if (i == 0) {
			p->base = figure_median(&p->rate) / p->ranks[0];
			continue;
		}
		snprintf(p->prefix, sizeof(p->prefix), "%s/%s/%d", prefix,
		    name, p->ranks[i]);
		print(p, arg);
	}
	return 0;
}

double
predict_efficiency(const struct predict *p, double rate)
{
	return rate / p->lists.ranks / p->base;
}

/* ---- rows ---- */

/* Return 1 if the seeds of a run differ by more than the profile does. */
static int
predict_spreads(const struct predict *p)
{
	const double *v = p->cluster.v;

	return v[JITTER] > 0 || v[SKEW] > 0 || v[MTBF] > 0;
}

/*
 * Say what the cluster lacks, so that a time without spread does not look
 * certain.
 */
static void
predict_note_missing(const struct predict *p)
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

/* Print the shares of the parts of each phase. */
static void
predict_print_phases(const struct predict *p)
{
	for (size_t i = 0; i < p->phases; i++) {
		const struct predict_phase *f = &p->phase[i];
		const struct bench_shape *s = &f->cell->shape;
		char prefix[300], note[80];
		double all = 0;
		int max = 0;

		for (int m = 0; m < CLUSTER_PARTS; m++) {
			all += f->part[m];
			max = f->part[m] > f->part[max] ? m : max;
		}
		snprintf(prefix, sizeof(prefix), "%s/phase/%dx%dx%d", p->prefix,
		    f->batch > 0 ? f->batch : p->lists.ranks * s->n, s->t,
		    s->side);
		snprintf(note, sizeof(note), "bound by %s; %llu steps",
		    cluster_part_names[max], (unsigned long long)f->steps);
		bench_value(p->b, all, "s", note, "%s/step", prefix);
		for (int m = 0; m < CLUSTER_PARTS; m++)
			bench_value(p->b, f->part[m] / all, "share", NULL,
			    "%s/%s", prefix, cluster_part_names[m]);
	}
}

/* Print the time and the price of the whole run. */
static void
predict_print_run(const struct predict *p)
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

/* For the picture, quantiles of efficiency and of time, of each algorithm at
 * each number of ranks. */
enum { PLOT_EFFICIENCY, PLOT_TIME, PLOTS };
struct predict_points { struct figure y[PLOTS][QUANTILES]; };

/* Print the rows of one number of ranks, and add its points to ${arg}. */
static void
predict_print(struct predict *p, void *arg)
{
	struct predict_points *points = arg;
	struct figure efficiency = { 0 };
	char note[40];

	for (size_t k = 0; k < p->rate.n; k++)
		figure_add(&efficiency, predict_efficiency(p, p->rate.v[k]));
	snprintf(note, sizeof(note), "to %d rank%s", p->ranks[0],
	    p->ranks[0] > 1 ? "s" : "");
	bench_row(p->b, &p->step, "s", "mean of a run; one value per seed",
	    "%s/step", p->prefix);
	bench_row(p->b, &p->rate, "clips/s", NULL, "%s/clips", p->prefix);
	bench_row(p->b, &efficiency, "share", note, "%s/efficiency", p->prefix);
	predict_print_phases(p);
	if (p->in->schedule != NULL)
		predict_print_run(p);
	for (int q = 0; q < QUANTILES; q++) {
		figure_add(&points->y[PLOT_EFFICIENCY][q],
		    figure_quantile(&efficiency, quantiles[q]));
		figure_add(&points->y[PLOT_TIME][q],
		    figure_quantile(p->in->schedule != NULL ? &p->time :
		    &p->step, quantiles[q]));
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
	double min = time[0], max = time[0];

	for (int i = 0; i < n; i++) {
		min = time[i] < min ? time[i] : min;
		max = time[i] > max ? time[i] : max;
	}
	/* A logarithmic axis needs a decade for its labels. */
	if (max < 10 * min)
		y->log = 0;
	y->label = !runs ? "time of a step, s" : max < 600 ?
	    "time of the run, s" : max < 2 * 3600 ? "time of the run, min" :
	    "time of the run, h";
	return !runs || max < 600 ? 1 : max < 2 * 3600 ? 60 : 3600;
}

/* Draw the points over the ranks. */
static int
predict_plot(const struct predict *p, struct predict_points *points)
{
	const struct predict_options *o = p->o;
	int spreads = predict_spreads(p), n = p->counts - 1, bad;
	struct plot_series *series = xcalloc(PLOTS * o->names, sizeof(*series));
	double x[PREDICT_COUNTS], unit;
	struct plot_panel panel[PLOTS] = {
		{ .y = { "efficiency", 0, 1, 0 } }, { .y = { .log = 10 } } };
	struct plot plot = { .title = "Predicted runs", .note = spreads ?
		"Median of 20 seeds; shaded: P10 to P90" : "Median of 20 "
		"seeds; no jitter and no skew of ranks is assumed", .w = 640,
		    .h = 560,
		.x = { "ranks", 0, 0, 2 }, .panel = panel, .panels = PLOTS };

	unit = predict_plot_unit(&panel[PLOT_TIME].y,
	    points->y[PLOT_TIME][1].v, n, p->in->schedule != NULL);
	for (int q = 0; q < QUANTILES; q++)
		for (size_t i = 0; i < points->y[PLOT_TIME][q].n; i++)
			points->y[PLOT_TIME][q].v[i] /= unit;
	for (int i = 0; i < n; i++)
		x[i] = p->ranks[1 + i];
	for (size_t i = 0; i < PLOTS * o->names; i++) {
		size_t k = i / o->names, name = i % o->names;
		const struct figure *f = points->y[k];
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

static int
predict_run(struct bench *b, const struct bench_inputs *in)
{
	const struct predict_options *o = &in->predict;
	struct predict_points points = { 0 };
	struct predict p;
	int bad = predict_open(&p, b, in, o->profiles.item[0]) != 0;

	if (!bad) {
		predict_note_missing(&p);
		bench_remark(b, "%zu gradients in buckets of %.0f bytes, %.0f "
		    "ranks a host", p.profile->elements, p.cluster.v[BUCKET],
		    p.cluster.v[RANKS_PER_HOST]);
	}
	for (size_t i = 0; i < o->names && !bad; i++)
		bad = predict_walk(&p, "cluster", o->name[i], predict_print,
		    &points);
	if (!bad && o->plot != NULL)
		bad = predict_plot(&p, &points);
	for (int i = 0; i < PLOTS * QUANTILES; i++)
		figure_free(&points.y[i / QUANTILES][i % QUANTILES]);
	predict_close(&p);
	return bad ? EXIT_USAGE : 0;
}

const struct bench_case bench_case_cluster = { .run = predict_run,
	.shapes = "2x8x224" };
