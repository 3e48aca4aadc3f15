/* Late fusion of score files. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "eval/fusion.h"
#include "graph/metric.h"

#define Q text_quote

/* ---- matching ---- */

static int
fusion_match_classes(const struct score_file *a, const struct score_file *b)
{
	size_t n = a->class.n < b->class.n ? a->class.n : b->class.n, c = 0;

	while (c < n && strcmp(a->class.name[c], b->class.name[c]) == 0)
		c++;
	if (c < n)
		return fail("%s: class %zu is %s (%s has %s): only scores of "
		    "the same classes can be fused", Q(b->path), c,
		    Q(b->class.name[c]), Q(a->path), Q(a->class.name[c]));
	if (a->class.n != b->class.n)
		return fail("%s: %zu classes (%s has %zu): only scores of the "
		    "same classes can be fused", Q(b->path), b->class.n,
		    Q(a->path), a->class.n);
	if (a->e.loss != b->e.loss)
		return fail("%s: scores of a %s loss (those of %s are of a %s "
		    "loss)", Q(b->path), b->e.loss == LOSS_SIGMOID ? "sigmoid" :
		    "softmax", Q(a->path), a->e.loss == LOSS_SIGMOID ?
		    "sigmoid" : "softmax");
	return 0;
}

/*
 * Return 1 if samples ${i} of ${a} and ${k} of ${b} have the same classes.  One
 * file may have sets where the other has single classes.
 */
static int
fusion_same_label(const struct score_file *a, uint32_t i,
    const struct score_file *b, uint32_t k)
{
	for (int c = 0; c < a->e.classes; c++)
		if (evaluation_has(&a->e.sample[i], c) !=
		    evaluation_has(&b->e.sample[k], c))
			return 0;
	return 1;
}

/* Set ${from}[samples] to the number in ${b} of each sample of ${a}. */
static int
fusion_match_samples(const struct score_file *a, const struct score_file *b,
    uint32_t *from)
{
	for (uint32_t i = 0; i < a->e.samples; i++) {
		const char *key = a->e.sample[i].key;
		int64_t k = score_file_find(b, key);

		if (k < 0)
			return fail("%s:%d: sample %s is not in %s: only "
			    "scores of the same samples can be fused",
			    Q(a->path), a->table->line[i], key, Q(b->path));
		from[i] = (uint32_t)k;
		if (!fusion_same_label(a, i, b, from[i]))
			return fail("%s:%d: sample %s has another label "
			    "than in %s:%d", Q(b->path), b->table->line[k], key,
			    Q(a->path), a->table->line[i]);
	}
	for (uint32_t k = 0; k < b->e.samples; k++)
		if (score_file_find(a, b->e.sample[k].key) < 0)
			return fail("%s:%d: sample %s is not in %s: only "
			    "scores of the same samples can be fused",
			    Q(b->path), b->table->line[k], b->e.sample[k].key,
			    Q(a->path));
	return 0;
}

int
fusion_match(struct score_file *f, size_t n)
{
	for (size_t k = 1; k < n; k++) {
		struct buffer b = { 0 }, first = { 0 };

		f[k].from = xcalloc(f[0].e.samples, sizeof(*f[k].from));
		if (fusion_match_classes(&f[0], &f[k]) != 0 ||
		    fusion_match_samples(&f[0], &f[k], f[k].from) != 0)
			return -1;
		protocol_difference(&f[k].protocol, &f[0].protocol, &b);
		protocol_difference(&f[0].protocol, &f[k].protocol, &first);
		if (b.n > 0)
			note("%s was scored with %s, and %s with %s: their "
			    "scores are combined as they are", Q(f[k].path),
			    b.data, Q(f[0].path), first.data);
		buffer_free(&b);
		buffer_free(&first);
	}
	return 0;
}

/* ---- combining ---- */

void
fusion_combine(enum fusion how, const struct score_file *f, size_t n,
    const double *weight, double *scores)
{
	const struct evaluation *e = &f[0].e;
	size_t row = (size_t)e->classes;
	double *sum = xcalloc(row, sizeof(*sum)), all = 0;
	double *one = xcalloc(row, sizeof(*one));

	for (size_t k = 0; k < n; k++)
		all += weight[k];
	for (size_t i = 0; i < e->samples; i++) {
		memset(sum, 0, row * sizeof(*sum));
		for (size_t k = 0; k < n; k++) {
			size_t from = f[k].from != NULL ? f[k].from[i] : i;

			memcpy(one, f[k].e.scores + from * row,
			    row * sizeof(*one));
			if (how == FUSION_PROBABILITIES)
				metric_probabilities(e->loss, one, e->classes,
				    one);
			for (size_t c = 0; c < row; c++)
				sum[c] += weight[k] / all * one[c];
		}
		/* ln p, as for the views of a sample. */
		if (how == FUSION_PROBABILITIES)
			metric_ensemble_end(ENSEMBLE_PROBABILITIES, e->loss,
			    e->classes, 1, sum);
		memcpy(scores + i * row, sum, row * sizeof(*sum));
	}
	free(one);
	free(sum);
}

/* ---- fitting ---- */

/* Return 1 if ${a} is better than ${b}. */
static int
fusion_is_better(const struct evaluation *e, const struct summary *a,
    const struct summary *b)
{
	int by = e->label_sets ? METRIC_MAP : METRIC_TOP1;
	double x = a->value[by], y = b->value[by];

	return x != y ? x > y : a->value[METRIC_LOSS] < b->value[METRIC_LOSS];
}

/*
 * Advance ${step}[n] to the next tuple with the same sum, in descending order.
 * Return 0 after the last one.
 */
static int
fusion_next(int *step, size_t n)
{
	size_t k = n - 1;
	int last = step[n - 1];

	/* Move 1 of the last weight before the final one that has any, and all
	 * of the final one, to the right. */
	do {
		if (k-- == 0)
			return 0;
	} while (step[k] == 0);
	step[n - 1] = 0;
	step[k]--;
	step[k + 1] = last + 1;
	return 1;
}

struct summary
fusion_fit(enum fusion how, const struct score_file *f, size_t n,
    double *weight)
{
	struct evaluation e = f[0].e;
	struct summary best = { 0 }, s;
	double tried[FUSION_FIT_FILES];
	int step[FUSION_FIT_FILES] = { FUSION_STEPS }, first = 1;

	e.scores = xcalloc((size_t)e.samples * (size_t)e.classes,
	    sizeof(double));
	do {
		for (size_t k = 0; k < n; k++)
			tried[k] = (double)step[k] / FUSION_STEPS;
		fusion_combine(how, f, n, tried, e.scores);
		s = evaluation_summary(&e);
		if (first || fusion_is_better(&e, &s, &best)) {
			best = s;
			memcpy(weight, tried, n * sizeof(*weight));
		}
		first = 0;
	} while (fusion_next(step, n));
	free(e.scores);
	return best;
}
