/* Print the results of an evaluation, one line per sample. */
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
	char *label = results_label(r, i, 1);

	table_put(to, r->e->sample[i].key);
	table_put(to, label);
	for (int k = 0; k < TOP; k++)
		table_put(to, k < n ? r->class[best[k]] : "");
	buffer_printf(to, "\t%.9g", score);
	results_put_video(r, i, to);
	buffer_text(to, "\n");
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
		const double *scores = results_scores(r, i);

		metric_probabilities(r->e->loss, scores, r->e->classes, p);
		results_best(scores, r->e->classes, n, best);
		(json ? results_print_json : results_print_row)(r, i,
		    p[best[0]], best, n, to);
	}
	free(p);
}

/* ---- the summary ---- */

/*
 * A figure of the summary.  It is absent if its number is not finite or its
 * text is NULL.
 */
struct results_figure {
	const char *name;		/* in text; NULL: only in JSON */
	int digits;			/* behind the point, in text */
	struct json_member m;
};

enum { RESULTS_FIGURES = METRICS + 16 };

/* Return an item of the protocol as a number or as a text. */
static struct json_member
results_int(const struct results *r, const char *name)
{
	int64_t value = protocol_int(r->protocol, name);

	return (struct json_member)JSON_MEMBER(name, value >= 0 ?
	    (double)value : NAN);
}

static struct json_member
results_text(const struct results *r, const char *name, const char *key)
{
	return (struct json_member)JSON_MEMBER_TEXT(key,
	    protocol_get(r->protocol, name));
}

/* Set ${f}[RESULTS_FIGURES] to the figures, in the order of the text. */
static void
results_figures(const struct results *r, struct results_figure *f)
{
	const struct summary *s = &r->summary;
	const char *full = protocol_get(r->protocol, "full-short-side");
	struct json_member clips = results_int(r, "clips");
	struct json_member crops = results_int(r, "crops");
	const struct results_figure others[RESULTS_FIGURES - METRICS] = {
		{ "classes", 0, JSON_MEMBER("classes", s->classes > 0 ?
		    s->classes : NAN) },
		{ "samples", 0, JSON_MEMBER("samples", r->e->samples) },
		{ "labelled", 0, JSON_MEMBER("labelled", s->labeled) },
		{ "views", 0, JSON_MEMBER("views", r->e->samples *
		    clips.number * crops.number) },
		{ "clips", 0, clips }, { "crops", 0, crops },
		{ "frames", 0, results_int(r, "frames") },
		{ "crop", 0, results_int(r, "crop") },
		{ "step", 0, results_int(r, "step") },
		{ "fusion", 0, results_text(r, "fusion", "fusion") },
		{ "fusion-weights", 0, results_text(r, "fusion-weights",
		    "fusion_weights") },
		{ "fusion-fitted", 0, results_text(r, "fusion-fitted",
		    "fusion_fitted") },
		{ NULL, 0, { "full", JSON_FLAG, full == NULL ? NAN :
		    strcmp(full, "yes") == 0, NULL } },
		{ NULL, 0, results_text(r, "checkpoint", "checkpoint") },
		{ NULL, 0, results_text(r, "data", "data") },
		{ NULL, 0, results_text(r, "model", "model") } };

	for (int i = 0; i < METRICS; i++)
		f[i] = (struct results_figure){ metrics[i].text, 6,
			JSON_MEMBER(metrics[i].name, s->value[i]) };
	memcpy(f + METRICS, others, sizeof(others));
}

void
results_print_summary(const struct results *r, int json, struct buffer *to)
{
	struct results_figure f[RESULTS_FIGURES];
	struct json_member m[RESULTS_FIGURES + 1];
	struct json_writer w = { 0 };

	results_figures(r, f);
	buffer_text(to, json ? "" : "#summary");
	for (int i = 0; i < RESULTS_FIGURES; i++) {
		m[i] = f[i].m;
		if (json || f[i].name == NULL)
			continue;
		if (m[i].kind == JSON_TEXT && m[i].text != NULL)
			buffer_printf(to, "\t%s %s", f[i].name, m[i].text);
		else if (m[i].kind == JSON_NUMBER && isfinite(m[i].number))
			buffer_printf(to, "\t%s %.*f", f[i].name, f[i].digits,
			    m[i].number);
	}
	m[RESULTS_FIGURES] = (struct json_member)JSON_MEMBER_TEXT("type",
	    "summary");
	if (json) {
		json_open(&w, NULL, '{');
		json_put_members(&w, m, RESULTS_FIGURES + 1);
		json_close(&w);
		buffer_text(to, w.out.data);
		buffer_free(&w.out);
	}
	buffer_text(to, "\n");
}
