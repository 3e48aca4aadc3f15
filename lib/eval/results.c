/* The results of an evaluation as tables. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/table.h"
#include "eval/part.h"
#include "eval/results.h"
#include "graph/metric.h"

const double *
results_scores(const struct results *r, uint32_t i)
{
	return r->e->scores + (size_t)i * (size_t)r->e->classes;
}

void
results_best(const double *scores, int classes, int n, int *class)
{
	int found = 0;

	for (int c = 0; c < classes; c++) {
		int to = found;

		while (to > 0 && scores[c] > scores[class[to - 1]])
			to--;
		if (to == n)
			continue;
		found += found < n;
		memmove(class + to + 1, class + to,
		    (size_t)(found - 1 - to) * sizeof(*class));
		class[to] = c;
	}
}

/* Return the first class of sample ${i} after class ${c}, or -1. */
static int
results_next_class(const struct results *r, uint32_t i, int c)
{
	for (c++; c < r->e->classes; c++)
		if (evaluation_has(&r->e->sample[i], c) == 1)
			return c;
	return -1;
}

void
results_put_video(const struct results *r, uint32_t i, struct buffer *to)
{
	const struct sample *m = &r->e->sample[i];

	table_put(to, m->source != NULL ? m->source : "");
	part_cells(m->key, m->source, to);
}

char *
results_label(const struct results *r, uint32_t i, int names)
{
	struct buffer b = { 0 };
	int c = results_next_class(r, i, -1);

	buffer_text(&b, c < 0 && !names && r->e->sample[i].labels == NULL ?
	    "-1" : "");
	for (const char *between = ""; c >= 0; c = results_next_class(r, i,
	    c)) {
		if (names)
			buffer_printf(&b, "%s%s", between, r->class[c]);
		else
			buffer_printf(&b, "%s%d", between, c);
		between = "|";
	}
	return b.data;
}

struct confusion *
results_confusion(const struct results *r)
{
	struct confusion *c = confusion_new(r->e->classes);

	for (uint32_t i = 0; i < r->e->samples; i++) {
		int label = r->e->sample[i].label, best;

		results_best(results_scores(r, i), r->e->classes, 1, &best);
		if (label >= 0)
			confusion_add(c, label, best);
	}
	return c;
}

/*
 * Count for each class the samples whose label is among the best ${k}.  The
 * caller frees the array.
 */
static double *
results_hits(const struct results *r, int k)
{
	double *n = xcalloc((size_t)r->e->classes, sizeof(*n));

	for (uint32_t i = 0; i < r->e->samples; i++) {
		int label = r->e->sample[i].label;

		if (label >= 0)
			n[label] += metric_rank(results_scores(r, i),
			    r->e->classes, label) < k;
	}
	return n;
}

static int
results_write_precisions(const struct results *r, const char *path)
{
	struct buffer b = { 0 };
	int bad;

	buffer_text(&b, "#class\tname\tsamples\tap\n");
	for (int c = 0; c < r->e->classes; c++) {
		double ap = evaluation_precision(r->e, c);
		uint32_t samples = 0;

		for (uint32_t i = 0; i < r->e->samples; i++)
			samples += evaluation_has(&r->e->sample[i], c) == 1;
		buffer_printf(&b, "%d", c);
		table_put(&b, r->class[c]);
		buffer_printf(&b, "\t%u\t", samples);
		if (ap >= 0)
			buffer_printf(&b, "%.9g", ap);
		buffer_text(&b, "\n");
	}
	bad = commit_bytes(path, b.data, b.n);
	buffer_free(&b);
	return bad;
}

static int
results_write_hits(const struct results *r, const char *path)
{
	size_t n = (size_t)r->e->classes;
	struct confusion *all = results_confusion(r);
	double *top1 = results_hits(r, 1), *top5 = results_hits(r, 5);
	struct buffer b = { 0 };
	int bad;

	buffer_text(&b, "#class\tname\tsamples\ttop1\ttop5\t"
	    "most_confused_with\ttimes\n");
	for (size_t c = 0; c < n; c++) {
		const double *row = all->count + c * n;
		size_t other = n;	/* no confusion found yet */
		double samples = all->samples[c], times = 0;

		for (size_t k = 0; k < n; k++)
			if (k != c && row[k] > times)
				times = row[other = k];
		buffer_printf(&b, "%zu", c);
		table_put(&b, r->class[c]);
		buffer_printf(&b, "\t%.0f\t%.9g\t%.9g", samples,
		    samples > 0 ? top1[c] / samples : 0,
		    samples > 0 ? top5[c] / samples : 0);
		table_put(&b, other < n ? r->class[other] : "");
		buffer_printf(&b, "\t%.0f\n", times);
	}
	bad = commit_bytes(path, b.data, b.n);
	buffer_free(&b);
	free(top1);
	free(top5);
	confusion_free(all);
	return bad;
}

int
results_write_classes(const struct results *r, const char *path)
{
	return r->e->label_sets ? results_write_precisions(r, path) :
	    results_write_hits(r, path);
}
