/* Print the results of an evaluation, one line per sample. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "eval/results.h"
#include "graph/metric.h"

enum { TOP = 5 };		/* classes on a line */

static void
results_print_row(const struct results *r, uint32_t i, double score,
    const int *best, int n, struct buffer *to)
{
	char *key = table_escape(dataset_sample(r->data, i).key);
	char *names = results_label(r, i, 1), *label = table_escape(names);

	buffer_printf(to, "%s\t%s", key, label);
	for (int k = 0; k < TOP; k++) {
		char *name = table_escape(k < n ? r->class[best[k]] : "");

		buffer_printf(to, "\t%s", name);
		free(name);
	}
	buffer_printf(to, "\t%.9g\n", score);
	free(key);
	free(names);
	free(label);
}

static void
results_print_json(const struct results *r, uint32_t i, double score,
    const int *best, int n, struct buffer *to)
{
	struct sample m = dataset_sample(r->data, i);
	struct json_writer w = { 0 };

	json_open(&w, NULL, '{');
	json_put_text(&w, "key", m.key);
	if (m.label >= 0)
		json_put_text(&w, "label", r->class[m.label]);
	if (m.labels != NULL) {
		json_open(&w, "labels", '[');
		for (int c = 0; c < r->e->classes; c++)
			if (evaluation_has(r->data, i, c) == 1)
				json_put_text(&w, NULL, r->class[c]);
		json_close(&w);
	}
	json_put_real(&w, "score", score);
	json_open(&w, "top", '[');
	for (int k = 0; k < n; k++)
		json_put_text(&w, NULL, r->class[best[k]]);
	json_close(&w);
	json_put_text(&w, "type", "sample");
	json_close(&w);
	buffer_printf(to, "%s\n", w.out.data);
	buffer_free(&w.out);
}

void
results_print(const struct results *r, int json, struct buffer *to)
{
	int n = r->e->classes < TOP ? r->e->classes : TOP, best[TOP];
	double *p = xcalloc((size_t)r->e->classes, sizeof(*p));

	if (!json)
		buffer_printf(to, "#key\tlabel\ttop1\ttop2\ttop3\ttop4\ttop5\tscore\n");
	for (uint32_t i = 0; i < r->e->samples; i++) {
		metric_probabilities(r->e->loss, results_scores(r, i),
		    r->e->classes, p);
		results_best(r, i, n, best);
		(json ? results_print_json : results_print_row)(r, i,
		    p[best[0]], best, n, to);
	}
	free(p);
}

void
results_print_summary(const struct results *r, const struct results_of *of,
    int json, struct buffer *to)
{
	struct json_writer w = { 0 };
	const struct view_options *v = of->views;
	const struct summary *m = &r->summary;

	if (!json) {
		buffer_printf(to, "#summary");
		if (m->labelled > 0)
			buffer_printf(to, "\ttop1 %.6f\ttop5 %.6f\tloss %.6f", m->top1,
			    m->top5, m->loss);
		if (m->classes > 0)
			buffer_printf(to, "\tmAP %.6f\tclasses %d", m->map,
			    m->classes);
		buffer_printf(to, "\tsamples %u\tlabelled %u\tviews %" PRIu64 "\tclips %d\t"
		    "crops %d\tframes %d\tcrop %d\tstep %" PRIu64 "\n",
		    r->e->samples, m->labelled, r->e->views, v->clips, v->crops,
		    v->t, v->side, of->step);
		return;
	}
	json_open(&w, NULL, '{');
	json_put_text(&w, "checkpoint", of->checkpoint);
	if (m->classes > 0)
		json_put_int(&w, "classes", m->classes);
	json_put_int(&w, "clips", v->clips);
	json_put_int(&w, "crop", v->side);
	json_put_int(&w, "crops", v->crops);
	json_put_text(&w, "data", of->data);
	json_put_int(&w, "frames", v->t);
	json_put_bool(&w, "full", v->full);
	json_put_int(&w, "labelled", m->labelled);
	if (m->labelled > 0)
		json_put_real(&w, "loss", m->loss);
	if (m->classes > 0)
		json_put_real(&w, "map", m->map);
	json_put_text(&w, "model", of->model);
	json_put_int(&w, "samples", r->e->samples);
	json_put_int(&w, "step", (int64_t)of->step);
	if (m->labelled > 0) {
		json_put_real(&w, "top1", m->top1);
		json_put_real(&w, "top5", m->top5);
	}
	json_put_text(&w, "type", "summary");
	json_put_int(&w, "views", (int64_t)r->e->views);
	json_close(&w);
	buffer_printf(to, "%s\n", w.out.data);
	buffer_free(&w.out);
}
