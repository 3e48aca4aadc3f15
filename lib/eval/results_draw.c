/* The results of an evaluation: the confusion matrix and the contact sheet. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"
#include "clip/fill.h"
#include "draw/plot.h"
#include "eval/results.h"
#include "graph/metric.h"

/* Append the accuracies below a title, if samples have a class. */
static void
results_add_summary(const struct results *r, struct buffer *to)
{
	const struct summary *s = &r->summary;

	if (s->ranked == 0)
		return;
	buffer_printf(to, "%stop-1 %.1f %%", to->n > 0 ? "; " : "",
	    100 * s->value[METRIC_TOP1]);
	/* The label is always among the best 5 of at most 5 classes. */
	if (r->e->classes > 5)
		buffer_printf(to, ", top-5 %.1f %%",
		    100 * s->value[METRIC_TOP5]);
	buffer_printf(to, " of %u samples", s->ranked);
}

/* ---- the confusion matrix ---- */

static int
results_is_table(const char *path)
{
	return text_ends(path, ".tsv");
}

int
results_matrix_ready(const char *path, int classes)
{
	if (results_is_table(path))
		return 0;
	if (plot_ready(path) != 0)
		return -1;
	if (classes > PLOT_CLASSES)
		return fail("%s: %d classes (a picture has room for %d; "
		    "wanted a table, a name that ends with .tsv)",
		    text_quote(path), classes, PLOT_CLASSES);
	return 0;
}

static int
results_write_table(const struct results *r, const struct confusion *c,
    const int *order, int counts, const char *path)
{
	struct buffer b = { 0 };
	int bad;

	buffer_text(&b, "#label\tsamples");
	for (int k = 0; k < c->classes; k++)
		table_put(&b, r->class[order[k]]);
	buffer_text(&b, "\n");
	for (int i = 0; i < c->classes; i++) {
		double samples = c->samples[order[i]];

		table_put(&b, r->class[order[i]]);
		buffer_printf(&b, "\t%.0f", samples);
		for (int k = 0; k < c->classes; k++) {
			double v = confusion_count(c, order[i], order[k]);

			buffer_printf(&b, "\t%.9g", counts || v == 0 ? v :
			    100 * v / samples);
		}
		buffer_text(&b, "\n");
	}
	bad = commit_bytes(path, b.data, b.n);
	buffer_free(&b);
	return bad;
}

static int
results_draw_matrix(const struct results *r, const struct confusion *c,
    const int *order, int counts, const char *path)
{
	size_t n = (size_t)c->classes;
	const char **name = xcalloc(n, sizeof(*name));
	double *count = xcalloc(n * n, sizeof(*count));
	int *place = xcalloc(n, sizeof(*place)), bad;
	struct confused worst[PLOT_PAIRS];
	struct plot_pair pair[PLOT_PAIRS];
	struct buffer note = { 0 };
	struct plot_matrix m = { .title = r->title, .row_label = "label",
		.column_label = "predicted as", .pair_label = "Most confused",
		.n = c->classes, .name = name, .count = count,
		.percent = !counts, .pair = pair };

	for (int i = 0; i < c->classes; i++) {
		name[i] = r->class[order[i]];
		place[order[i]] = i;
		for (int k = 0; k < c->classes; k++)
			count[(size_t)i * n + (size_t)k] = confusion_count(c,
			    order[i], order[k]);
	}
	m.pairs = confusion_worst(c, PLOT_PAIRS, worst);
	for (int i = 0; i < m.pairs; i++)
		pair[i] = (struct plot_pair){ place[worst[i].label],
			place[worst[i].predicted] };
	results_add_summary(r, &note);
	m.note = note.data;
	bad = plot_matrix(&m, path);
	buffer_free(&note);
	free(place);
	free(count);
	free(name);
	return bad;
}

int
results_write_matrix(const struct results *r, const struct matrix_options *o,
    const char *path)
{
	struct confusion *c = results_confusion(r);
	int *order = xcalloc((size_t)c->classes, sizeof(*order)), bad;

	if (o->by_number)
		for (int i = 0; i < c->classes; i++)
			order[i] = i;
	else
		confusion_order(c, order);
	bad = (results_is_table(path) ? results_write_table :
	    results_draw_matrix)(r, c, order, o->counts, path);
	free(order);
	confusion_free(c);
	return bad;
}

/* ---- the contact sheet ---- */

/* Return the number in the dataset of sample ${i}. */
static uint32_t
results_in_data(const struct results *r, uint32_t i)
{
	return r->in_data != NULL ? r->in_data[i] : i;
}

enum { STRIP = 3, GAP = 4, SIDE = 160 };	/* frames of a sample; pixels */

/*
 * Copy the first, middle and last frame of sample ${i}, side by side, into a
 * new image ${*to}.  Return 0, or the error of clip_fill.
 */
static int
results_strip(const struct results *r, struct filler *f, uint32_t i,
    const struct image **to)
{
	struct frame_source s = frame_source_sample(r->data,
	    results_in_data(r, i), 0);
	int frame[STRIP] = { 0, s.frames / 2, s.frames - 1 };
	const struct clip_request c = { .t = STRIP, .side = SIDE,
		.frame = frame, .crop = crop_test(VIEW_TSM, s.width, s.height,
		SIDE, 0, 1, 1) };
	uint8_t *pixels = xmalloc(STRIP * SIDE * SIDE * 3);
	struct clip_out out = { .bytes = pixels };
	struct image *all = image_new(STRIP * (SIDE + GAP) - GAP, SIDE, 3);
	int bad = clip_fill(f, &s, &c, &out);

	memset(all->data, 255, (size_t)all->w * all->h * 3);
	if (bad)
		fail("%s", filler_error(f));
	for (int k = 0; k < STRIP && !bad; k++)
		for (int y = 0; y < SIDE; y++)
			memcpy(all->data + ((size_t)y * all->w +
			    (size_t)k * (SIDE + GAP)) * 3, pixels +
			    ((size_t)k * SIDE + y) * SIDE * 3, SIDE * 3);
	free(pixels);
	*to = all;
	return bad;
}

/* A sample that the sheet may show. */
struct results_candidate { uint32_t sample; int predicted; double score; };

static int
results_most_confident(const void *a, const void *b)
{
	const struct results_candidate *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->sample < y->sample ? -1 : 1;
}

/*
 * List all samples in order, or the wrong ones with the most confident first,
 * in a new array ${*to}.  Return their number.
 */
static uint32_t
results_candidates(const struct results *r, int wrong,
    struct results_candidate **to)
{
	struct results_candidate *c = xcalloc((size_t)r->e->samples + 1,
	    sizeof(*c));
	double *p = xcalloc((size_t)r->e->classes, sizeof(*p));
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->e->samples; i++) {
		int label = r->e->sample[i].label, best;

		results_best(results_scores(r, i), r->e->classes, 1, &best);
		if (wrong && (label < 0 || label == best))
			continue;
		metric_probabilities(r->e->loss, results_scores(r, i),
		    r->e->classes, p);
		c[n++] = (struct results_candidate){ i, best, p[best] };
	}
	if (wrong)
		qsort(c, n, sizeof(*c), results_most_confident);
	free(p);
	*to = c;
	return n;
}

static int
results_add_clip(const struct results *r, struct filler *f,
    const struct results_candidate *c, struct plot_clip *to)
{
	int label = r->e->sample[c->sample].label;
	char *path = NULL;
	int bad = dataset_source(r->data, results_in_data(r, c->sample), &path);

	*to = (struct plot_clip){ .caption = r->class[c->predicted],
		.score = xprintf("%.3f", c->score), .path = path,
		.mark = label < 0 ? PLOT_UNMARKED : label == c->predicted ?
		PLOT_RIGHT : PLOT_WRONG };
	if (to->mark == PLOT_WRONG)
		to->note = xprintf("label: %s", r->class[label]);
	return bad != 0 ? bad : results_strip(r, f, c->sample, &to->m);
}

int
results_draw_sheet(const struct results *r, int n, int wrong, const char *path)
{
	struct results_candidate *c;
	uint32_t all = results_candidates(r, wrong, &c);
	struct plot_clip *clip;
	struct plot_sheet s = { .title = r->title };
	struct filler *f = filler_new(NULL);
	struct buffer note = { 0 };
	int bad = 0;

	if ((uint32_t)n > all)
		n = (int)all;
	clip = xcalloc((size_t)n + 1, sizeof(*clip));
	for (int k = 0; k < n && !bad; k++)
		bad = results_add_clip(r, f, &c[wrong ? (uint32_t)k :
		    (uint32_t)((uint64_t)k * all / (uint32_t)n)], &clip[k]);
	if (wrong)
		buffer_printf(&note, "the %d most confident of %u wrong "
		    "predictions, and their scores", n, all);
	else
		buffer_printf(&note, "%d of %u samples, what each is predicted "
		    "as, and the score", n, all);
	results_add_summary(r, &note);
	s.note = note.data;
	s.clip = clip;
	s.n = n;
	/*
	 * Square in clips: a clip on the sheet and the sheet itself are both
	 * 5/3 as wide as high.
	 */
	s.columns = (int)ceil(sqrt(n));
	if (!bad)
		bad = plot_sheet(&s, path);
	for (int k = 0; k < n; k++) {
		image_free((struct image *)clip[k].m);
		free((char *)clip[k].score);
		free((char *)clip[k].note);
		free((char *)clip[k].path);
	}
	buffer_free(&note);
	free(clip);
	free(c);
	filler_free(f);
	return bad;
}
