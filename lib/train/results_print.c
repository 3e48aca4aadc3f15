/* What an evaluation found, a line a sample, on standard output. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "graph/metric.h"
#include "train/results.h"

enum { TOP = 5 };		/* classes on a line */

static const char *
label_name(const struct results *r, int label)
{
	return label >= 0 ? r->class[label] : "";
}

static void
print_row(const struct results *r, struct sample m, double score,
    const int *best, int n)
{
	char *key = table_escape(m.key);
	char *label = table_escape(label_name(r, m.label));

	printf("%s\t%s", key, label);
	for (int k = 0; k < TOP; k++) {
		char *name = table_escape(k < n ? r->class[best[k]] : "");

		printf("\t%s", name);
		free(name);
	}
	printf("\t%.9g\n", score);
	free(key);
	free(label);
}

static void
print_json(const struct results *r, struct sample m, double score,
    const int *best, int n)
{
	struct json_writer w = { 0 };

	json_open(&w, NULL, '{');
	json_put_text(&w, "key", m.key);
	if (m.label >= 0)
		json_put_text(&w, "label", label_name(r, m.label));
	json_put_real(&w, "score", score);
	json_open(&w, "top", '[');
	for (int k = 0; k < n; k++)
		json_put_text(&w, NULL, r->class[best[k]]);
	json_close(&w);
	json_put_text(&w, "type", "sample");
	json_close(&w);
	puts(w.out.data);
	buffer_free(&w.out);
}

void
results_print(const struct results *r, int json)
{
	int n = r->e->classes < TOP ? r->e->classes : TOP, best[TOP];
	double *p = xcalloc((size_t)r->e->classes, sizeof(*p));

	if (!json)
		printf("#key\tlabel\ttop1\ttop2\ttop3\ttop4\ttop5\tscore\n");
	for (uint32_t i = 0; i < r->e->samples; i++) {
		metric_probabilities(r->e->loss, results_scores(r, i),
		    r->e->classes, p);
		results_best(r, i, n, best);
		(json ? print_json : print_row)(r, dataset_sample(r->data, i),
		    p[best[0]], best, n);
	}
	free(p);
}
