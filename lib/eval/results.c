/* What an evaluation found, as tables. */
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/table.h"
#include "eval/results.h"
#include "graph/metric.h"

const double *
results_scores(const struct results *r, uint32_t i)
{
	return r->e->scores + (size_t)i * (size_t)r->e->classes;
}

void
results_best(const struct results *r, uint32_t i, int n, int *class)
{
	const double *v = results_scores(r, i);

	for (int k = 0; k < n; k++) {
		class[k] = -1;
		for (int c = 0; c < r->e->classes; c++) {
			int taken = 0;

			for (int j = 0; j < k; j++)
				taken |= class[j] == c;
			if (!taken && (class[k] < 0 || v[c] > v[class[k]]))
				class[k] = c;
		}
	}
}

int
results_write_scores(const struct results *r, const char *path)
{
	struct buffer b = { 0 };
	int bad;

	buffer_text(&b, "#key\tlabel");
	for (int c = 0; c < r->e->classes; c++) {
		char *name = table_escape(r->class[c]);

		buffer_printf(&b, "\t%s", name);
		free(name);
	}
	buffer_text(&b, "\n");
	for (uint32_t i = 0; i < r->e->samples; i++) {
		struct sample m = dataset_sample(r->data, i);

		buffer_printf(&b, "%s\t%d", m.key, m.label);
		for (int c = 0; c < r->e->classes; c++)
			buffer_printf(&b, "\t%.9g", results_scores(r, i)[c]);
		buffer_text(&b, "\n");
	}
	bad = commit_bytes(path, b.data, b.n);
	buffer_free(&b);
	return bad;
}

struct confusion *
results_confusion(const struct results *r)
{
	struct confusion *c = confusion_new(r->e->classes);

	for (uint32_t i = 0; i < r->e->samples; i++) {
		int label = dataset_sample(r->data, i).label, best;

		results_best(r, i, 1, &best);
		if (label >= 0)
			confusion_add(c, label, best);
	}
	return c;
}

/* How many samples of each class are right among the first ${k}. */
static double *
hits(const struct results *r, int k)
{
	double *n = xcalloc((size_t)r->e->classes, sizeof(*n));

	for (uint32_t i = 0; i < r->e->samples; i++) {
		int label = dataset_sample(r->data, i).label;

		if (label >= 0)
			n[label] += metric_rank(results_scores(r, i),
			    r->e->classes, label) < k;
	}
	return n;
}

int
results_write_classes(const struct results *r, const char *path)
{
	size_t n = (size_t)r->e->classes;
	struct confusion *all = results_confusion(r);
	double *top1 = hits(r, 1), *top5 = hits(r, 5);
	struct buffer b = { 0 };
	int bad;

	buffer_text(&b, "#class\tname\tsamples\ttop1\ttop5\t"
	    "most_confused_with\ttimes\n");
	for (size_t c = 0; c < n; c++) {
		const double *row = all->count + c * n;
		size_t other = n;	/* none yet, and with one class never */
		char *name, *confused;
		double samples = all->samples[c], times = 0;

		for (size_t k = 0; k < n; k++)
			if (k != c && row[k] > times)
				times = row[other = k];
		name = table_escape(r->class[c]);
		confused = table_escape(other < n ? r->class[other] : "");
		buffer_printf(&b, "%zu\t%s\t%.0f\t%.9g\t%.9g\t%s\t%.0f\n", c,
		    name, samples, samples > 0 ? top1[c] / samples : 0,
		    samples > 0 ? top5[c] / samples : 0, confused, times);
		free(name);
		free(confused);
	}
	bad = commit_bytes(path, b.data, b.n);
	buffer_free(&b);
	free(top1);
	free(top5);
	confusion_free(all);
	return bad;
}
