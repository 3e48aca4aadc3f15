/* Score a dataset, and compute its metrics. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/stop.h"
#include "graph/metric.h"
#include "train/loop/evaluator.h"
#include "train/loop/feeder.h"
#include "train/loop/loop_end.h"

const struct metric metrics[METRICS] = {
	[METRIC_TOP1] = { "top1", "top1", "top1/validation", 1, 1 },
	[METRIC_TOP5] = { "top5", "top5", "top5/validation", 1, 1 },
	[METRIC_LOSS] = { "loss", "loss", "loss/validation", -1, 0 },
	[METRIC_MAP] = { "map", "mAP", "map/validation", 1, 1 },
};

struct plan *
evaluator_plan(struct net *n, const struct view_options *v)
{
	struct dims *input = graph_inputs(n->graph, v->n, v->t, v->side);
	struct plan *p = net_plan(n, input, 0);

	free(input);
	return p;
}

/* Add the scores of one microbatch's views to their samples. */
static void
evaluator_add_microbatch(const struct feeder *f, const struct view_options *v,
    const struct evaluation *e, double *scratch, uint64_t *views)
{
	const struct microbatch *l = f->mb;
	size_t classes = (size_t)e->classes;
	uint64_t each = (uint64_t)(v->clips * v->crops);

	net_scores(f->plan, scratch);
	/* Skip clips that only fill up the last microbatch. */
	for (int i = 0; i < l->n - l->filled; i++, ++*views)
		metric_ensemble_add(v->ensemble, e->loss, e->classes, scratch +
		    (size_t)i * classes, l->clip[i] % each == 0, e->scores +
		    (size_t)l->sample[i] * classes);
}

/* Check that all scores are finite.  Every rank has all scores, so all return
 * the same status; rank 0 prints the message. */
static int
evaluator_check_finite(const struct evaluation *e, const struct dataset *d,
    int rank)
{
	for (uint32_t i = 0; i < e->samples; i++)
		for (int k = 0; k < e->classes; k++) {
			double score = e->scores[(size_t)i *
			    (size_t)e->classes + (size_t)k];

			if (isfinite(score))
				continue;
			if (rank == 0)
				fail("%s: sample %s: the score of class %d is "
				    "%g: the network has diverged",
				    dataset_path(d), e->sample[i].key, k,
				    score);
			return EXIT_DIVERGED;
		}
	return 0;
}

int
evaluator_run(struct net *n, const struct dataset *d,
    const struct view_options *v, struct comm *c,
    void (*progress)(uint64_t done, uint64_t all), struct evaluation *e)
{
	int classes = n->graph->head[0].classes;
	int per = v->clips * v->crops;
	struct feeder f = { .net = n, .plan = evaluator_plan(n, v),
		.watch = c->watch };
	uint32_t samples = dataset_samples(d);
	size_t *start = xcalloc((size_t)c->size + 1, sizeof(*start)), row;
	uint32_t first, count;
	double *scratch = xcalloc((size_t)v->n * (size_t)classes,
	    sizeof(double));
	uint64_t views = 0, all;
	struct loop_end loop;
	int status = 0;

	/* Split the samples evenly; ${start} is in bytes, for the gather. */
	row = (size_t)classes * sizeof(double);
	for (int r = 0; r <= c->size; r++)
		start[r] = (size_t)((uint64_t)samples * (uint64_t)r /
		    (uint64_t)c->size) * row;
	first = (uint32_t)(start[c->rank] / row);
	count = (uint32_t)(start[c->rank + 1] / row) - first;
	*e = (struct evaluation){ .samples = samples, .classes = classes,
		.loss = n->graph->op[n->graph->head[0].loss].loss.kind };
	e->scores = xcalloc((size_t)samples * (size_t)classes, sizeof(double));
	e->sample = xcalloc(samples, sizeof(*e->sample));
	e->label_sets = dataset_has_label_sets(d);
	for (uint32_t i = 0; i < samples; i++)
		e->sample[i] = dataset_sample(d, i);
	all = (uint64_t)count * (uint64_t)per;
	feeder_open_views(&f, d, first, count, v);
	/* A rank that has ended waits for the others here, so that none waits
	 * for it in the gather. */
	loop_end_open(&loop, c);
	while (!loop_end_is(&loop, views == all, &status)) {
		status = stop_requested() ? EXIT_AGAIN : feeder_next(&f);
		if (status != 0)
			continue;
		feeder_forward(&f, NULL);
		feeder_prefetch(&f);
		evaluator_add_microbatch(&f, v, e, scratch, &views);
		feeder_done(&f);
		if (progress != NULL)
			progress(views, all);
	}
	feeder_close(&f);
	free(scratch);
	loop_end_close(&loop);
	if (status == 0 && comm_allgatherv(c, e->scores, start) != 0)
		status = EXIT_RANKS;
	e->views = (uint64_t)samples * (uint64_t)per;
	for (uint32_t i = 0; i < samples; i++)
		metric_ensemble_end(v->ensemble, e->loss, classes, per,
		    e->scores + (size_t)i * (size_t)classes);
	free(start);
	if (status == 0)
		status = evaluator_check_finite(e, d, c->rank);
	if (status != 0)
		evaluation_free(e);
	return status;
}

void
evaluation_free(struct evaluation *e)
{
	free(e->scores);
	free(e->sample);
	e->scores = NULL;
	e->sample = NULL;
}

int
evaluation_has(const struct sample *m, int c)
{
	for (int k = 0; k < m->nlabels; k++)
		if (m->labels[k].class == c)
			return 1;
	if (m->labels != NULL)
		return 0;
	return m->label < 0 ? -1 : m->label == c;
}

/* Set ${right}[classes] to 1 for the classes of sample ${i}, else to 0.  Return
 * their number, or -1 if the sample has no label. */
static int
evaluator_classes_of(const struct evaluation *e, uint32_t i, char *right)
{
	const struct sample *m = &e->sample[i];
	int count = 0;

	memset(right, 0, (size_t)e->classes);
	if (m->labels == NULL && m->label < 0)
		return -1;
	if (m->labels == NULL)
		right[m->label] = 1;
	for (int k = 0; k < m->nlabels; k++)
		right[m->labels[k].class] = 1;
	for (int c = 0; c < e->classes; c++)
		count += right[c];
	return count;
}

/* Return the mean binary cross-entropy over all classes. */
static double
evaluator_set_loss(const struct evaluation *e, const double *scores,
    const char *right)
{
	double sum = 0;

	for (int c = 0; c < e->classes; c++)
		sum += metric_binary(scores[c], right[c]);
	return sum / e->classes;
}

/* Add a sample with ${n} classes ${right} to ${s}.  It counts for top-k by the
 * best rank of its classes. */
static void
evaluator_add_sample(struct summary *s, const struct evaluation *e,
    const double *scores, const char *right, int n)
{
	int best = e->classes, one = 0;

	for (int c = 0; c < e->classes; c++)
		if (right[c]) {
			int rank = metric_rank(scores, e->classes, c);

			best = rank < best ? rank : best;
			one = c;
		}
	s->labeled++;
	s->ranked += n > 0;
	s->value[METRIC_TOP1] += n > 0 && best < 1;
	s->value[METRIC_TOP5] += n > 0 && best < 5;
	s->value[METRIC_LOSS] += e->loss == LOSS_SIGMOID ? evaluator_set_loss(e,
	    scores, right) : n == 1 ? metric_loss(e->loss, scores, e->classes,
	    one) : 0;
}

double
evaluation_precision(const struct evaluation *e, int c)
{
	struct scored *s = xcalloc(e->samples, sizeof(*s));
	size_t n = 0;
	double precision;

	for (uint32_t i = 0; i < e->samples; i++) {
		int right = evaluation_has(&e->sample[i], c);

		if (right >= 0)
			s[n++] = (struct scored){ e->scores[(size_t)i *
			    (size_t)e->classes + (size_t)c], right };
	}
	precision = metric_average_precision(s, n);
	free(s);
	return precision;
}

/* Return the mean average precision, NAN if no sample has a class, and count
 * the classes in ${*classes}. */
static double
evaluator_map(const struct evaluation *e, int *classes)
{
	double sum = 0;

	*classes = 0;
	for (int c = 0; c < e->classes; c++) {
		double precision = evaluation_precision(e, c);

		*classes += precision >= 0;
		sum += precision >= 0 ? precision : 0;
	}
	return *classes > 0 ? sum / *classes : NAN;
}

struct summary
evaluation_summary(const struct evaluation *e)
{
	struct summary s = { 0 };
	char *right = xcalloc((size_t)e->classes, 1);

	for (uint32_t i = 0; i < e->samples; i++) {
		int n = evaluator_classes_of(e, i, right);

		if (n >= 0)
			evaluator_add_sample(&s, e, e->scores + (size_t)i *
			    (size_t)e->classes, right, n);
	}
	free(right);
	s.value[METRIC_TOP1] /= s.ranked > 0 ? s.ranked : 1;
	s.value[METRIC_TOP5] /= s.ranked > 0 ? s.ranked : 1;
	s.value[METRIC_LOSS] /= s.labeled > 0 ? s.labeled : 1;
	s.value[METRIC_MAP] = e->label_sets ? evaluator_map(e, &s.classes) :
	    NAN;
	for (int i = 0; i < METRICS && s.labeled == 0; i++)
		s.value[i] = NAN;
	return s;
}
