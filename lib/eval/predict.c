/* Print the predictions for clips, one line per clip. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "eval/part.h"
#include "eval/predict.h"
#include "eval/results.h"
#include "graph/metric.h"

static int
predict_classes_of(const struct predict_run *a)
{
	return a->model->graph->head[0].classes;
}

/* Return the number of classes on a line. */
static int
predict_columns(const struct predict_run *a)
{
	return a->top < predict_classes_of(a) ? a->top : predict_classes_of(a);
}

/*
 * The header is printed with the first prediction, so that an error leaves no
 * empty table.
 */
static void
predict_header(const struct predict_run *a, struct buffer *to)
{
	if (a->json)
		return;
	buffer_text(to, "#video");
	for (int k = 1; k <= predict_columns(a); k++)
		buffer_printf(to, "\ttop%d\tp%d", k, k);
	buffer_text(to, "\tbegin\tend\n");
}

/*
 * Append the JSON line of a clip.  ${why} is the reason why there is no
 * prediction; if it is NULL, ${best} and ${p} are the prediction.
 */
static void
predict_json_line(const struct predict_run *a, const struct extraction *v,
    const char *why, const int *best, const double *p, struct buffer *to)
{
	char *const *name = a->model->class.name;
	struct json_writer w = { 0 };

	json_open(&w, NULL, '{');
	part_members(v->sample.key, v->sample.source, &w);
	if (v->kept)
		json_put_int(&w, "frames", v->sample.frames);
	if (v->sample.key != NULL)
		json_put_text(&w, "key", v->sample.key);
	if (why != NULL)
		json_put_bytes(&w, "message", why);
	json_put_bytes(&w, "path", v->sample.source);
	if (why == NULL) {
		json_open(&w, "probabilities", '[');
		for (int k = 0; k < predict_columns(a); k++)
			json_put_real(&w, NULL, p[best[k]]);
		json_close(&w);
	}
	json_put_text(&w, "status", why != NULL && v->kept ? "damaged" :
	    v->sample.status);
	if (why == NULL) {
		json_open(&w, "top", '[');
		for (int k = 0; k < predict_columns(a); k++)
			json_put_text(&w, NULL, name[best[k]]);
		json_close(&w);
	}
	json_put_text(&w, "type", a->clips->stream == NULL ? "video" : "clip");
	json_close(&w);
	buffer_printf(to, "%s\n", w.out.data);
	buffer_free(&w.out);
}

static void
predict_text_line(const struct predict_run *a, const struct extraction *v,
    const int *best, const double *p, struct buffer *to)
{
	table_put(to, v->sample.source);
	for (int k = 0; k < predict_columns(a); k++) {
		table_put(to, a->model->class.name[best[k]]);
		buffer_printf(to, "\t%.6f", p[best[k]]);
	}
	part_cells(v->sample.key, v->sample.source, to);
	buffer_text(to, "\n");
}

/*
 * Append the line of ${v} to ${to}.  ${scores} has the scores of all classes
 * before the softmax.
 */
static void
predict_line(const struct predict_run *a, const struct extraction *v,
    const double *scores, struct buffer *to)
{
	int n = predict_classes_of(a);
	int *best = xcalloc((size_t)n, sizeof(*best));
	double *p = xcalloc((size_t)n, sizeof(*p));

	results_best(scores, n, predict_columns(a), best);
	metric_probabilities(a->model->graph->op[
	    a->model->graph->head[0].loss].loss.kind, scores, n, p);
	if (a->json)
		predict_json_line(a, v, NULL, best, p, to);
	else
		predict_text_line(a, v, best, p, to);
	free(best);
	free(p);
}

/*
 * Report a clip without a prediction.  Only the JSON output has a line for it.
 */
static void
predict_failed(struct predict_run *a, const struct extraction *v,
    const char *why, struct buffer *to)
{
	a->failed++;
	fail("%s", why);
	if (a->json)
		predict_json_line(a, v, why, NULL, NULL, to);
}

static void
predict_summary(const struct predict_run *a, struct buffer *to)
{
	const struct state *s = &a->model->state;
	struct json_writer w = { 0 };

	if (!a->json)
		return;
	json_open(&w, NULL, '{');
	json_put_int(&w, "answered", (int64_t)a->done);
	json_put_bytes(&w, "checkpoint", a->model->path);
	json_put_int(&w, "clips", a->views->clips);
	json_put_int(&w, "crop", a->views->side);
	json_put_int(&w, "crops", a->views->crops);
	json_put_int(&w, "failed", (int64_t)a->failed);
	json_put_int(&w, "frames", a->views->t);
	json_put_bool(&w, "full", a->views->full);
	json_put_text(&w, "model", s->model);
	json_put_int(&w, "step", (int64_t)s->step);
	json_put_text(&w, "type", "summary");
	json_close(&w);
	buffer_printf(to, "%s\n", w.out.data);
	buffer_free(&w.out);
}

/*
 * Check that the stream of ${v} has what the network reads.  Frames extracted
 * with other settings than the training data are another input: a stream
 * declares its settings in its head; warn if they differ.  Return 0, or an exit
 * status after a message.
 */
static int
predict_check_stream(const struct predict_run *a, const struct extraction *v)
{
	const char *is = a->clips->source->settings;
	const char *want = a->model->state.extract;
	const char *what = v->sample.shard;

	if (a->clips->stream == NULL)
		return 0;
	if (loader_check_streams(v->sample.streams, what,
	    &a->model->graph->needs, a->model->graph->name) != 0)
		return EXIT_USAGE;
	if (is != NULL && want != NULL && strcmp(is, want) != 0)
		warning("%s: its frames were made as %s (the network was "
		    "trained on %s)", what, is, want);
	return 0;
}

/*
 * Predict one clip and append its line to ${to}.  Return 0, or an exit status
 * after a message.
 */
static int
predict_clip(struct predict_run *a, const struct extraction *v, double *scores,
    struct buffer *to)
{
	const struct sample *m = &v->sample;
	char why[SCORER_WHY];
	double start = clock_seconds();
	int bad;

	if (!v->kept) {
		predict_failed(a, v, v->message.text, to);
		return 0;
	}
	if (v->message.text[0] != '\0')
		warning("%s", v->message.text);
	if ((bad = scorer_run(a->clips->scorer, v, scores, why)) == -1)
		return EXIT_FAILED;
	if (bad != 0) {
		predict_failed(a, v, why, to);
		return 0;
	}
	for (int c = 0; c < predict_classes_of(a); c++)
		if (!isfinite(scores[c])) {
			fail("%s: the score of class %d is %g: the network has "
			    "diverged", text_quote(m->source), c, scores[c]);
			return EXIT_DIVERGED;
		}
	if (a->done++ == 0)
		predict_header(a, to);
	predict_line(a, v, scores, to);
	detail("%s: %d frames of %dx%d in %.3f s, scored in %.3f s",
	    text_quote(m->source), m->frames, m->width, m->height, v->spent,
	    clock_seconds() - start);
	return 0;
}

int
predict_all(struct predict_run *a)
{
	double *scores = xcalloc((size_t)predict_classes_of(a),
	    sizeof(*scores));
	struct buffer lines = { 0 };
	const struct extraction *v;
	int got, status = 0;

	while (status == 0 && (got = clip_source_next(a->clips->source, &v)) ==
	    1) {
		/* A stream's settings are known only after its first sample. */
		if (a->done + a->failed == 0)
			status = predict_check_stream(a, v);
		if (status == 0)
			status = predict_clip(a, v, scores, &lines);
		if (status == 0 && output_write(a->output, &lines) != 0)
			status = EXIT_FAILED;
		if (a->progress != NULL)
			a->progress(a->done + a->failed);
	}
	if (status == 0 && got < 0)
		status = got == -2 ? EXIT_FAILED : EXIT_DAMAGE;
	if (status == 0) {
		if (a->done + a->failed == 0)
			predict_header(a, &lines);
		predict_summary(a, &lines);
		if (output_write(a->output, &lines) != 0)
			status = EXIT_FAILED;
	}
	free(scores);
	buffer_free(&lines);
	if (status == 0 && a->failed > 0)
		status = a->done > 0 ? EXIT_SKIPPED : EXIT_FAILED;
	return status;
}
