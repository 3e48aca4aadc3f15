/*
 * Predict training runs on a cluster: time, efficiency, price, and what limits
 * each phase.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/prediction.h"

struct predict_job {
	struct bench *b;
	const struct predict_options *o;
	struct prediction p;
	double base;			/* clips per second and rank of the
					 * base */
};

/* Return 1 if the seeds of a run differ by more than the profile does. */
static int
predict_spreads(const struct cluster *c)
{
	return c->v[JITTER] > 0 || c->v[SKEW] > 0 || c->v[MTBF] > 0;
}

/*
 * Say what the cluster lacks, so that a time without spread does not look
 * certain.
 */
static void
predict_note_missing(const struct predict_job *j)
{
	static const struct { int property; const char *name; } row[] = {
		{ JITTER, "jitter" }, { SKEW, "skew" }, { START, "start" } };
	struct buffer b = { 0 };

	for (int i = 0; i < 3; i++)
		if (j->p.cluster.v[row[i].property] == 0)
			buffer_printf(&b, "%sno cluster/%s", b.n > 0 ? ", " :
			    "", row[i].name);
	if (b.n > 0)
		note("%s has %s: the prediction is too low%s (--set=NAME=VALUE "
		    "adds them)", text_quote(j->o->links), b.data,
		    predict_spreads(&j->p.cluster) ? "" : " and has no spread");
	buffer_free(&b);
}

/* ---- rows ---- */

static int
predict_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Return quantile ${q} of ${f}, which is sorted. */
static double
predict_quantile(const struct figure *f, double q)
{
	size_t i = (size_t)ceil(q * (double)f->n);

	return f->v[i > 0 ? i - 1 : 0];
}

/* Print the shares of the parts of each phase. */
static void
predict_print_phases(struct predict_job *j, const char *prefix)
{
	for (size_t i = 0; i < j->p.phases; i++) {
		const struct prediction_phase *p = &j->p.phase[i];
		const struct bench_shape *s = &p->cell->shape;
		double all = 0;
		char name[64], note[80];
		int most = 0;

		snprintf(name, sizeof(name), "%dx%dx%d", p->batch > 0 ?
		    p->batch : j->p.lists.ranks * s->n, s->t, s->side);
		for (int m = 0; m < CLUSTER_PARTS; m++) {
			all += p->part[m];
			most = p->part[m] > p->part[most] ? m : most;
		}
		snprintf(note, sizeof(note), "bound by %s; %llu steps",
		    cluster_part_name((enum cluster_part)most),
		    (unsigned long long)p->steps);
		bench_value(j->b, all, "s", note, "%s/phase/%s/step", prefix,
		    name);
		for (int m = 0; m < CLUSTER_PARTS; m++)
			bench_value(j->b, p->part[m] / all, "share", NULL,
			    "%s/phase/%s/%s", prefix, name,
			    cluster_part_name((enum cluster_part)m));
	}
}

/* Print the time and the price of the whole run. */
static void
predict_print_run(struct predict_job *j, const char *prefix)
{
	static const double q[] = { 0.1, 0.5, 0.9 };
	struct figure *f = &j->p.time;
	int spreads = predict_spreads(&j->p.cluster);
	int from = spreads ? 0 : 1, to = spreads ? 2 : 1;

	if (j->o->schedule == NULL)
		return;
	qsort(f->v, f->n, sizeof(*f->v), predict_by_value);
	for (int i = from; i <= to; i++)
		bench_value(j->b, predict_quantile(f, q[i]), "s", i > from ?
		    NULL : from < to ? "quantiles of 20 seeds" : "no spread",
		    "%s/time/p%.0f", prefix, 100 * q[i]);
	if (j->p.cluster.v[MTBF] > 0)
		bench_value(j->b, (double)j->p.failures / PREDICTION_SEEDS,
		    "failures", "mean of 20 seeds", "%s/failures", prefix);
	for (int i = from; i <= to && j->o->price > 0; i++)
		bench_value(j->b, predict_quantile(f, q[i]) / 3600 *
		    j->p.lists.ranks * j->o->price, "price", NULL,
		    "%s/price/p%.0f", prefix, 100 * q[i]);
}

/* Print the rows of one number of ranks, and add a point to ${curve}. */
static void
predict_print(struct predict_job *j, const char *name,
    struct predict_curve *curve)
{
	struct figure efficiency = { 0 };
	double ranks = j->p.lists.ranks;
	char prefix[80], note[40];

	snprintf(prefix, sizeof(prefix), "cluster/%s/%d", name,
	    j->p.lists.ranks);
	for (size_t i = 0; i < j->p.rate.n; i++)
		figure_add(&efficiency, j->p.rate.v[i] / ranks / j->base);
	snprintf(note, sizeof(note), "to %d rank%s", j->o->base,
	    j->o->base > 1 ? "s" : "");
	bench_row(j->b, &j->p.step, "s", "mean of a run; one value per seed",
	    "%s/step", prefix);
	bench_row(j->b, &j->p.rate, "clips/s", NULL, "%s/clips", prefix);
	bench_row(j->b, &efficiency, "share", note, "%s/efficiency", prefix);
	predict_print_phases(j, prefix);
	predict_print_run(j, prefix);
	qsort(efficiency.v, efficiency.n, sizeof(double), predict_by_value);
	qsort(j->p.step.v, j->p.step.n, sizeof(double), predict_by_value);
	curve->efficiency[0] = predict_quantile(&efficiency, 0.1);
	curve->efficiency[1] = predict_quantile(&efficiency, 0.5);
	curve->efficiency[2] = predict_quantile(&efficiency, 0.9);
	for (int i = 0; i < 3; i++)
		curve->time[i] = predict_quantile(j->o->schedule != NULL ?
		    &j->p.time : &j->p.step, (const double[]){ 0.1, 0.5,
			0.9 }[i]);
	figure_free(&efficiency);
}

/* ---- the case ---- */

static int
predict_algorithm(struct predict_job *j, const char *name, const int *count,
    int n, struct predict_curve *curve)
{
	if (prediction_simulate(&j->p, name, j->o->base) != 0)
		return -1;
	j->base = figure_median(&j->p.rate) / j->o->base;
	for (int i = 0; i < n; i++) {
		if (prediction_simulate(&j->p, name, count[i]) != 0)
			return -1;
		predict_print(j, name, &curve[i]);
	}
	return 0;
}

int
bench_predict(struct bench *b, const struct predict_options *o)
{
	struct predict_job j = { .b = b, .o = o };
	struct predict_curve *curve = NULL;
	int count[PREDICT_COUNTS], n = 0;
	int bad = prediction_open(&j.p, o, o->profile[0]) != 0 ||
	    (n = prediction_counts(&j.p, o, count)) < 0;

	if (!bad) {
		predict_note_missing(&j);
		curve = xcalloc(o->names * (size_t)n, sizeof(*curve));
		bench_remark(b, "%zu gradients in buckets of %.0f bytes, %.0f "
		    "ranks a host", j.p.profile->elements,
		    j.p.cluster.v[BUCKET], j.p.cluster.v[RANKS_PER_HOST]);
	}
	for (size_t i = 0; i < o->names && !bad; i++)
		bad = predict_algorithm(&j, o->name[i], count, n,
		    &curve[i * (size_t)n]);
	if (!bad && o->plot != NULL)
		bad = predict_plot(o, predict_spreads(&j.p.cluster), count, n,
		    curve);
	free(curve);
	prediction_close(&j.p);
	return bad ? EXIT_USAGE : 0;
}
