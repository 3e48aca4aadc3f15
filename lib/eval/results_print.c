/* Print the results of an evaluation, one line per sample. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "eval/part.h"
#include "eval/results.h"
#include "graph/metric.h"

enum { TOP = 5 };		/* classes on a line */

static void
results_print_row(const struct results *r, uint32_t i, double score,
    const int *best, int n, struct buffer *to)
{
	char *key = table_escape(r->e->sample[i].key);
	char *names = results_label(r, i, 1), *label = table_escape(names);
	char *path = results_path(r, i);

	buffer_printf(to, "%s\t%s", key, label);
	for (int k = 0; k < TOP; k++) {
		char *name = table_escape(k < n ? r->class[best[k]] : "");

		buffer_printf(to, "\t%s", name);
		free(name);
	}
	buffer_printf(to, "\t%.9g\t%s", score, path);
	part_cells(r->e->sample[i].key, r->e->sample[i].source, to);
	buffer_text(to, "\n");
	free(path);
	free(key);
	free(names);
	free(label);
}

static void
results_print_json(const struct results *r, uint32_t i, double score,
    const int *best, int n, struct buffer *to)
{
	const struct sample *m = &r->e->sample[i];
	struct json_writer w = { 0 };

	json_open(&w, NULL, '{');
	part_members(m->key, m->source, &w);
	json_put_text(&w, "key", m->key);
	if (m->label >= 0)
		json_put_text(&w, "label", r->class[m->label]);
	if (m->labels != NULL) {
		json_open(&w, "labels", '[');
		for (int c = 0; c < r->e->classes; c++)
			if (evaluation_has(&r->e->sample[i], c) == 1)
				json_put_text(&w, NULL, r->class[c]);
		json_close(&w);
	}
	if (m->source != NULL)
		json_put_bytes(&w, "path", m->source);
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
		buffer_text(to, "#key\tlabel\ttop1\ttop2\ttop3\ttop4\ttop5\t"
		    "score\tpath\tbegin\tend\n");
	for (uint32_t i = 0; i < r->e->samples; i++) {
		metric_probabilities(r->e->loss, results_scores(r, i),
		    r->e->classes, p);
		results_best(r, i, n, best);
		(json ? results_print_json : results_print_row)(r, i,
		    p[best[0]], best, n, to);
	}
	free(p);
}

/* Return the number of views, or -1 if it is unknown. */
static int64_t
results_views(const struct results *r)
{
	int64_t clips = protocol_int(r->protocol, "clips");
	int64_t crops = protocol_int(r->protocol, "crops");

	return clips < 0 || crops < 0 ? -1 : r->e->samples * clips * crops;
}

/* Return ${key} with line ${name} of the protocol as a text or a number. */
static struct json_member
results_text_member(const char *key, const struct results *r, const char *name)
{
	return (struct json_member)JSON_MEMBER_TEXT(key,
	    protocol_get(r->protocol, name));
}

static struct json_member
results_int_member(const char *key, const struct results *r)
{
	int64_t value = protocol_int(r->protocol, key);

	return (struct json_member)JSON_MEMBER(key, value >= 0 ?
	    (double)value : NAN);
}

static void
results_print_summary_json(const struct results *r, struct buffer *to)
{
	const char *full = protocol_get(r->protocol, "full-short-side");
	const struct summary *s = &r->summary;
	int64_t views = results_views(r);
	struct json_writer w = { 0 };
	struct json_member m[METRICS + 17] = {
		results_text_member("checkpoint", r, "checkpoint"),
		results_text_member("data", r, "data"),
		results_text_member("fusion", r, "fusion"),
		results_text_member("fusion_fitted", r, "fusion-fitted"),
		results_text_member("fusion_weights", r, "fusion-weights"),
		results_text_member("model", r, "model"),
		results_int_member("clips", r), results_int_member("crop", r),
		results_int_member("crops", r), results_int_member("frames", r),
		results_int_member("step", r),
		{ "full", JSON_FLAG, full == NULL ? NAN :
		    strcmp(full, "yes") == 0, NULL },
		JSON_MEMBER("classes", s->classes > 0 ? s->classes : NAN),
		JSON_MEMBER("labelled", s->labeled),
		JSON_MEMBER("samples", r->e->samples),
		JSON_MEMBER("views", views >= 0 ? (double)views : NAN),
		JSON_MEMBER_TEXT("type", "summary") };

	for (int i = 0; i < METRICS; i++)
		m[17 + i] = (struct json_member)JSON_MEMBER(metrics[i].name,
		    s->value[i]);
	json_open(&w, NULL, '{');
	json_put_members(&w, m, METRICS + 17);
	json_close(&w);
	buffer_printf(to, "%s\n", w.out.data);
	buffer_free(&w.out);
}

void
results_print_summary(const struct results *r, int json, struct buffer *to)
{
	static const char *const shown[] = { "clips", "crops", "frames", "crop",
		"step", "fusion", "fusion-weights", "fusion-fitted", NULL };
	const struct summary *m = &r->summary;

	if (json) {
		results_print_summary_json(r, to);
		return;
	}
	buffer_printf(to, "#summary");
	for (int i = 0; i < METRICS; i++)
		if (!isnan(m->value[i]))
			buffer_printf(to, "\t%s %.6f", metrics[i].text,
			    m->value[i]);
	if (m->classes > 0)
		buffer_printf(to, "\tclasses %d", m->classes);
	buffer_printf(to, "\tsamples %u\tlabelled %u", r->e->samples,
	    m->labeled);
	if (results_views(r) >= 0)
		buffer_printf(to, "\tviews %" PRId64, results_views(r));
	for (const char *const *name = shown; *name != NULL; name++) {
		const char *value = protocol_get(r->protocol, *name);

		if (value != NULL)
			buffer_printf(to, "\t%s %s", *name, value);
	}
	buffer_text(to, "\n");
}
