/* Curves over the batch: the last accuracy of runs, a mean for each batch. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "draw/plot.h"
#include "eval/curves.h"

/* ---- numbers ---- */

/* Return the largest learning rate of a stage.  Pieces are monotonic. */
static double
curves_stage_lr(const struct stage *g)
{
	double from = g->epoch_begin, largest = 0;

	for (int i = 0; i < g->pieces; i++) {
		double to = fmin(g->lr[i].until, g->epoch_end);

		largest = fmax(largest, fmax(lr_at(&g->lr[i], 1, from),
		    lr_at(&g->lr[i], 1, to)));
		from = to;
	}
	return largest;
}

static double
curves_largest_lr(const struct schedule *s)
{
	double largest = 0;

	for (int i = 0; i < s->stages; i++)
		largest = fmax(largest, curves_stage_lr(&s->stage[i]));
	return largest;
}

static int
curves_last_batch(const struct schedule *s)
{
	const struct stage *last = &s->stage[s->stages - 1];

	return last->cell[last->cells - 1].batch;
}

static struct history_point
curves_last_point(const struct history *h, int of)
{
	return h->series[of].at[h->series[of].n - 1];
}

/* Return the batch ${batch} of ${b}; insert it at its place if it is new. */
static struct curves_batch *
curves_batch_of(struct curves_batch *b, size_t *n, int batch)
{
	size_t i = *n;

	for (size_t k = 0; k < *n; k++)
		if (b[k].batch == batch)
			return &b[k];
	for (; i > 0 && b[i - 1].batch > batch; i--)
		b[i] = b[i - 1];
	b[i] = (struct curves_batch){ .batch = batch };
	++*n;
	return &b[i];
}

struct curves_batch *
curves_batches(const struct curves_line *l, int of, size_t *n)
{
	struct curves_batch *b = xcalloc(l->runs + 1, sizeof(*b));

	*n = 0;
	for (size_t i = 0; i < l->runs; i++) {
		const struct history *h = &l->run[i];
		struct curves_batch *at = curves_batch_of(b, n,
		    curves_last_batch(h->schedule));
		struct history_point last = curves_last_point(h, of);

		at->runs++;
		at->lr += curves_largest_lr(h->schedule);
		at->steps += (double)last.step;
		at->seconds += last.seconds;
		at->value += last.value;
	}
	for (size_t k = 0; k < *n; k++) {
		double runs = (double)b[k].runs;

		b[k].lr /= runs;
		b[k].steps /= runs;
		b[k].seconds /= runs;
		b[k].value /= runs;
	}
	for (size_t i = 0; i < l->runs; i++) {
		struct curves_batch *at = curves_batch_of(b, n,
		    curves_last_batch(l->run[i].schedule));
		double d = curves_last_point(&l->run[i], of).value - at->value;

		at->error += d * d;
	}
	/* s / sqrt(n), with s^2 = sum (x - mean)^2 / (n - 1) */
	for (size_t k = 0; k < *n; k++) {
		double runs = (double)b[k].runs;

		b[k].error = runs > 1 ? sqrt(b[k].error / (runs - 1) / runs) :
		    NAN;
	}
	return b;
}

/* ---- the picture ---- */

/* One curve in percent.  ${x} owns the memory of all arrays. */
struct curves_over_batch { double *x, *y, *low, *high; size_t n; };

static struct curves_over_batch
curves_points_of_batches(const struct curves_batch *b, size_t n)
{
	double *memory = xcalloc(4 * n + 1, sizeof(*memory));
	struct curves_over_batch p = { memory, memory + n, memory + 2 * n,
		memory + 3 * n, n };

	for (size_t i = 0; i < n; i++) {
		double error = b[i].runs > 1 ? b[i].error : 0;

		p.x[i] = b[i].batch;
		p.y[i] = 100 * b[i].value;
		p.low[i] = 100 * (b[i].value - error);
		p.high[i] = 100 * (b[i].value + error);
	}
	return p;
}

/* Return a note on the runs of a point.  The caller frees it. */
static char *
curves_batch_note(size_t least, size_t most)
{
	if (most == 1)
		return xstrdup("One run for each batch");
	return least == most ?
	    xprintf("Means of %zu runs; shaded: the standard error of the mean",
	    most) :
	    xprintf("Means of %zu to %zu runs; shaded: the standard error of "
	    "the mean", least, most);
}

int
curves_draw_batches(const struct curves *c, const char *path)
{
	int of = curves_accuracy(c);
	struct curves_over_batch *p = xcalloc(c->n, sizeof(*p));
	struct plot_series *series = xcalloc(c->n, sizeof(*series));
	struct plot_panel panel = { .y = { of == HISTORY_MAP ?
	    "Validation mAP after training, %" :
	    "Validation top-1 after training, %", 0, 0, 0 },
		.series = series, .n = (int)c->n };
	struct plot plot = { .title = "Accuracy over the batch", .w = 640,
		.h = 400, .x = { "batch, clips", 0, 0, 2 }, .panel = &panel,
		.panels = 1 };
	size_t least = (size_t)-1, most = 0;
	char *note;
	int bad;

	for (size_t i = 0; i < c->n; i++) {
		size_t n;
		struct curves_batch *b = curves_batches(&c->line[i], of, &n);

		for (size_t k = 0; k < n; k++) {
			least = b[k].runs < least ? b[k].runs : least;
			most = b[k].runs > most ? b[k].runs : most;
		}
		p[i] = curves_points_of_batches(b, n);
		series[i] = (struct plot_series){ .name = c->line[i].name,
			.n = (int)n, .x = p[i].x, .y = p[i].y,
			.style = (int)i, .low = p[i].low, .high = p[i].high,
			.marks = 1 };
		free(b);
	}
	plot.note = note = curves_batch_note(least, most);
	bad = plot_draw(&plot, path);
	for (size_t i = 0; i < c->n; i++)
		free(p[i].x);
	free(p);
	free(series);
	free(note);
	return bad;
}
