/* What an evaluation found, as files and pictures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"
#include "data/fetch.h"
#include "media/plot.h"
#include "media/png.h"
#include "train/metric.h"
#include "train/results.h"

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

/* [label][predicted] over the samples that have a label. */
static double *
confusion(const struct results *r)
{
	size_t n = (size_t)r->e->classes;
	double *count = xcalloc(n * n, sizeof(*count));

	for (uint32_t i = 0; i < r->e->samples; i++) {
		int label = dataset_sample(r->data, i).label, best;

		results_best(r, i, 1, &best);
		if (label >= 0)
			count[(size_t)label * n + (size_t)best]++;
	}
	return count;
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
	double *count = confusion(r), *top1 = hits(r, 1), *top5 = hits(r, 5);
	struct buffer b = { 0 };
	int bad;

	buffer_text(&b, "#class\tname\tsamples\ttop1\ttop5\tmost_taken_for\t"
	    "times\n");
	for (size_t c = 0; c < n; c++) {
		const double *row = count + c * n;
		size_t other = n;	/* none yet, and with one class never */
		char *name, *taken;
		double all = 0, times = 0;

		for (size_t k = 0; k < n; k++) {
			all += row[k];
			if (k != c && row[k] > times)
				times = row[other = k];
		}
		name = table_escape(r->class[c]);
		taken = table_escape(other < n ? r->class[other] : "");
		buffer_printf(&b, "%zu\t%s\t%.0f\t%.9g\t%.9g\t%s\t%.0f\n", c,
		    name, all, all > 0 ? top1[c] / all : 0,
		    all > 0 ? top5[c] / all : 0, taken, times);
		free(name);
		free(taken);
	}
	bad = commit_bytes(path, b.data, b.n);
	buffer_free(&b);
	free(top1);
	free(top5);
	free(count);
	return bad;
}

static int
draw(const char *path, struct image *m)
{
	int bad = m == NULL ? -1 : png_write(path, m);

	image_free(m);
	return bad;
}

static void
say_summary(const struct results *r, char note[160])
{
	snprintf(note, 160, "top-1 %.1f %%, top-5 %.1f %% of %u samples",
	    100 * r->summary.top1, 100 * r->summary.top5, r->summary.labelled);
}

int
results_draw_matrix(const struct results *r, const char *path)
{
	char note[160];
	double *count = confusion(r);
	struct plot_heat h = { .title = r->title, .note = note,
		.row_label = "label", .column_label = "predicted",
		.row = r->class, .column = r->class, .rows = r->e->classes,
		.columns = r->e->classes, .value = count, .unit = "samples" };
	int bad;

	say_summary(r, note);
	bad = draw(path, plot_heat(&h));
	free(count);
	return bad;
}

enum { STRIP = 3, GAP = 2, SIDE = 72 };	/* frames of a sample, pixels */

/*
 * The first, the middle and the last frame of sample ${i}, side by side, into
 * ${*to}; 0, or as fetch_clip.
 */
static int
strip(const struct results *r, struct fetch *f, uint32_t i,
    const struct image **to)
{
	struct sample m = dataset_sample(r->data, i);
	int frame[STRIP] = { 0, m.frames / 2, m.frames - 1 };
	struct fetch_clip c = { i, STRIP, SIDE, frame,
		crop_test(m.width, m.height, 0, 1, 1) };
	uint8_t *pixels = xmalloc(STRIP * SIDE * SIDE * 3);
	struct image *all = image_new(STRIP * (SIDE + GAP) - GAP, SIDE, 3);
	struct fetch_cost cost = { 0 };
	atomic_int stop = 0;
	int bad = fetch_clip(f, &c, pixels, &stop, &cost);

	memset(all->data, 255, (size_t)all->w * all->h * 3);
	if (bad)
		fail("%s", fetch_error(f));
	for (int k = 0; k < STRIP && !bad; k++)
		for (int y = 0; y < SIDE; y++)
			memcpy(all->data + ((size_t)y * all->w +
			    (size_t)k * (SIDE + GAP)) * 3, pixels +
			    ((size_t)k * SIDE + y) * SIDE * 3, SIDE * 3);
	free(pixels);
	*to = all;
	return bad;
}

int
results_draw_sheet(const struct results *r, int n, const char *path)
{
	struct plot_thumb *thumb;
	struct plot_sheet s = { .title = r->title, .columns = 4, .zoom = 1 };
	struct fetch *f = fetch_new(r->data);
	char note[160];
	int bad = 0;

	if ((uint32_t)n > r->e->samples)
		n = (int)r->e->samples;
	thumb = xcalloc((size_t)n, sizeof(*thumb));
	for (int k = 0; k < n && !bad; k++) {
		uint32_t i = (uint32_t)((uint64_t)k * r->e->samples / n);
		int label = dataset_sample(r->data, i).label, best;

		results_best(r, i, 1, &best);
		bad = strip(r, f, i, &thumb[k].m);
		thumb[k].caption = r->class[best];
		thumb[k].mark = label < 0 ? 0 : label == best ? 1 : 2;
		thumb[k].note = label >= 0 && label != best ?
		    xprintf("is %s", r->class[label]) : NULL;
	}
	say_summary(r, note);
	s.note = note;
	s.thumb = thumb;
	s.n = n;
	if (!bad)
		bad = draw(path, plot_sheet(&s));
	for (int k = 0; k < n; k++) {
		image_free((struct image *)thumb[k].m);
		free((char *)thumb[k].note);
	}
	free(thumb);
	fetch_free(f);
	return bad;
}
