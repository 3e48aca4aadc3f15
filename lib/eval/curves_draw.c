/*
 * Draw curves of runs.  Over time: losses above accuracies, over seconds on the
 * left and over epochs on the right; below them, strips show the batch shapes
 * of the schedules.  Over the batch: accuracies.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "draw/plot.h"
#include "eval/curves.h"
#include "sched/summary.h"

enum { SIDES = 2, PANELS = 2 };
enum { MAX = 160, MARKS = 40 };	/* maximum points of a line; maximum
					 * points of a line with dots */

struct curves_picture {
	const struct curves *c;
	void **memory;			/* [n] of the plots, freed at the end */
	size_t n, cap;
	struct plot plot[SIDES];
	struct plot_panel panel[SIDES][PANELS];
	double level;			/* the target, in percent */
};

/* A side: the number along its axis, and the unit in which it is drawn. */
struct curves_axis { enum curves_number x; double unit; const char *label; };

/* ---- memory ---- */

/* Return ${memory}, which is freed with the picture. */
static void *
curves_own(struct curves_picture *p, void *memory)
{
	p->memory = array_reserve(p->memory, p->n, &p->cap,
	    sizeof(*p->memory));
	return p->memory[p->n++] = memory;
}

static void *
curves_alloc(struct curves_picture *p, size_t n, size_t bytes)
{
	return curves_own(p, xcalloc(n, bytes));
}

/* ---- series ---- */

/* Return the points of the curve that has the most of the series ${of}. */
static size_t
curves_largest(const struct curves *c, int of)
{
	size_t largest = 0, n;

	for (size_t i = 0; i < c->n; i++) {
		curves_points(c, i, of, &n);
		largest = n > largest ? n : largest;
	}
	return largest;
}

/*
 * Return series ${of} of curve ${i}.  A long log has more points than the
 * picture has pixels, and would show only noise: replace groups of points by
 * their means, as a log line itself is the mean of its steps.  Accuracies are
 * in percent, and few enough to show all.  Validation losses have dots, so they
 * are few.
 */
static struct plot_series
curves_series(struct curves_picture *p, size_t i, int of,
    const struct curves_axis *axis)
{
	const struct curves_line *l = &p->c->line[i];
	int accuracy = of == p->c->accuracy;
	int batches = p->c->over == CURVES_OVER_BATCH;
	int band = l->runs > 1 || batches;
	size_t n;
	const struct curves_point *at = curves_points(p->c, i, of, &n);
	size_t every = accuracy ? 1 : n / (of == HISTORY_LOSS ? MAX : MARKS) +
	    1;
	size_t groups = (n + every - 1) / every;
	double *x = curves_alloc(p, 4 * groups, sizeof(*x)), *y = x + groups;
	double *low = y + groups, *high = low + groups;

	for (size_t m = 0; m < n; m++) {
		const double *v = at[m].v;
		size_t k = m / every, left = n - k * every;
		double part = (accuracy ? 100. : 1.) /
		    (double)(left < every ? left : every);
		double error = v[CURVES_RUNS] > 1 ? v[CURVES_ERROR] : 0;

		/* A group is drawn at its last point. */
		x[k] = v[axis->x] / axis->unit;
		y[k] += part * v[CURVES_VALUE];
		low[k] += part * (v[CURVES_VALUE] - error);
		high[k] += part * (v[CURVES_VALUE] + error);
	}
	return (struct plot_series){ .name = of == HISTORY_VAL_LOSS ? NULL :
		l->name, .n = (int)groups, .x = x, .y = y, .style = (int)i,
		.low = band ? low : NULL, .high = band ? high : NULL,
		.marks = of == HISTORY_VAL_LOSS || (accuracy && (batches ||
		curves_largest(p->c, of) <= MARKS)) };
}

/* Add a panel with the series ${of} of all curves; losses with those of
 * validations, too. */
static void
curves_add_panel(struct curves_picture *p, int side, int of, const char *label,
    const struct curves_axis *axis)
{
	size_t n = p->c->n;
	struct plot_panel *panel = &p->panel[side][p->plot[side].panels++];
	struct plot_series *series = curves_alloc(p, 2 * n, sizeof(*series));
	int both = of == HISTORY_LOSS &&
	    curves_largest(p->c, HISTORY_VAL_LOSS) > 0;

	for (size_t i = 0; i < (both ? 2 * n : n); i++)
		series[panel->n++] = curves_series(p, i % n, i < n ? of :
		    HISTORY_VAL_LOSS, axis);
	panel->series = series;
	panel->y.label = both ? "Training loss; dots: validation loss" : label;
}

/*
 * Mark the target in the panel of the accuracy, and where each curve reaches
 * it.  The axis begins at a multiple of ten, 5 to 15 points below the target:
 * schedules that reach it differ in the last points.
 */
static void
curves_mark_target(struct curves_picture *p, struct plot_panel *panel,
    const struct curves_axis *axis)
{
	const struct curves *c = p->c;
	struct plot_drop *drop = curves_alloc(p, c->n, sizeof(*drop));
	size_t n;

	p->level = 100 * c->target;
	for (size_t i = 0; i < c->n; i++) {
		const double *v = curves_points(c, i, CURVES_REACHED, &n)->v;
		double x = v[axis->x] / axis->unit;

		if (isfinite(x))
			drop[panel->drops++] = (struct plot_drop){ x, (int)i,
			    curves_own(p, c->line[i].runs == 1 ?
			    xprintf("%.3g", x) : xprintf("%.3g, %.0f of %zu "
			    "runs", x, v[CURVES_RUNS], c->line[i].runs)) };
	}
	panel->y.min = fmax(10 * floor((p->level - 5) / 10), 0);
	panel->y.max = 100;
	panel->level = &p->level;
	panel->drop = drop;
}

/* ---- cells ---- */

static int
curves_same_cells(const struct stage *a, const struct stage *b)
{
	int same = a->cells == b->cells;

	for (int i = 0; i < a->cells && same; i++)
		same = a->cell[i].batch == b->cell[i].batch &&
		    a->cell[i].frames == b->cell[i].frames &&
		    a->cell[i].crop == b->cell[i].crop;
	return same;
}

/* Return the largest cell of a stage as text, and the number of others. */
static char *
curves_band_text(const struct stage *g)
{
	const struct cell *c = &g->cell[0];

	for (int i = 1; i < g->cells; i++)
		if (cell_cost(&g->cell[i]) >= cell_cost(c))
			c = &g->cell[i];
	return g->cells == 1 ?
	    xprintf("%dx%dx%d", c->batch, c->frames, c->crop) :
	    xprintf("%dx%dx%d +%d", c->batch, c->frames, c->crop, g->cells - 1);
}

/* Return where ${epoch} is on the axis, between the losses ${at}[n]. */
static double
curves_place_epoch(const struct curves_point *at, size_t n, double epoch,
    const struct curves_axis *axis)
{
	double e = 0, s = 0;		/* the point before */

	if (axis->x == CURVES_EPOCH)
		return epoch;
	for (size_t i = 0; i < n; i++) {
		double to_e = at[i].v[CURVES_EPOCH];
		double to_s = at[i].v[CURVES_SECONDS];

		if (to_e >= epoch)
			return (to_e == e ? to_s : s + (to_s - s) *
			    (epoch - e) / (to_e - e)) / axis->unit;
		e = to_e;
		s = to_s;
	}
	return s / axis->unit;
}

/* Return the strip of curve ${i}: bands of equal cells, up to its end.  The
 * stage of cost ${largest} gets the darkest shade. */
static struct plot_strip
curves_strip(struct curves_picture *p, size_t i, double largest,
    const struct curves_axis *axis)
{
	const struct schedule *s = p->c->line[i].schedule;
	size_t n;
	const struct curves_point *at = curves_points(p->c, i, HISTORY_LOSS,
	    &n);
	double end = n > 0 ? at[n - 1].v[CURVES_EPOCH] : 0;
	struct plot_band *band = s == NULL ? NULL : curves_alloc(p,
	    (size_t)s->stages, sizeof(*band));
	struct plot_strip strip = { (int)i, band, 0 };

	for (int g = 0, k; s != NULL && g < s->stages &&
	    s->stage[g].epoch_begin < end; g = k) {
		for (k = g + 1; k < s->stages &&
		    curves_same_cells(&s->stage[g], &s->stage[k]); )
			k++;
		/* The last batch may extend beyond the last epoch. */
		band[strip.n++] = (struct plot_band){
			.from = curves_place_epoch(at, n,
			s->stage[g].epoch_begin, axis),
			.to = curves_place_epoch(at, n, k == s->stages ? end :
			fmin(s->stage[k - 1].epoch_end, end), axis),
			.shade = stage_cost(&s->stage[g], &cost_input) /
			largest,
			.text = curves_own(p, curves_band_text(&s->stage[g])) };
	}
	return strip;
}

/*
 * Add the cells as strips.  Draw rules where they change, but only for a single
 * curve: with several, the rules of one would cross the lines of the others.
 */
static void
curves_add_strips(struct curves_picture *p, struct plot *plot,
    const struct curves_axis *axis)
{
	const struct curves *c = p->c;
	struct plot_strip *strip = curves_alloc(p, c->n, sizeof(*strip));
	double *rule, largest = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct schedule *s = c->line[i].schedule;

		for (int k = 0; s != NULL && k < s->stages; k++)
			largest = fmax(largest, stage_cost(&s->stage[k],
			    &cost_input));
	}
	for (size_t i = 0; i < c->n; i++) {
		strip[plot->strips] = curves_strip(p, i, largest, axis);
		plot->strips += strip[plot->strips].n > 0;
	}
	plot->strip = strip;
	plot->strip_label = "Cells, batch x frames x crop";
	rule = curves_alloc(p, (size_t)strip[0].n + 1, sizeof(*rule));
	for (int i = 1; c->n == 1 && i < strip[0].n; i++)
		rule[plot->rules++] = strip[0].band[i].from;
	plot->rule = rule;
}

/* ---- the picture ---- */

/* Return a note which curves are means of how many runs, or NULL. */
static char *
curves_note(const struct curves *c)
{
	size_t least = SIZE_MAX, most = 0;
	struct buffer b = { 0 };

	for (size_t i = 0; i < c->n && c->over == CURVES_OVER_TIME; i++)
		if (c->line[i].runs > 1)
			buffer_printf(&b, "%s%s: mean of %zu runs", b.n > 0 ?
			    "; " : "", c->line[i].name, c->line[i].runs);
	for (size_t i = 0; i < c->points; i++) {
		size_t runs = (size_t)c->point[i].v[CURVES_RUNS];

		least = runs < least ? runs : least;
		most = runs > most ? runs : most;
	}
	if (c->over == CURVES_OVER_BATCH && most == 1)
		buffer_text(&b, "One run for each batch");
	else if (c->over == CURVES_OVER_BATCH && least == most)
		buffer_printf(&b, "Means of %zu runs", most);
	else if (c->over == CURVES_OVER_BATCH)
		buffer_printf(&b, "Means of %zu to %zu runs", least, most);
	if (b.n > 0 && most > 1)
		buffer_text(&b, "; shaded: the standard error of the mean");
	return b.data;
}

/* Fill the plot of one side over time, up to ${end} in the unit of the axis. */
static void
curves_add_side(struct curves_picture *p, int side, double end,
    const struct curves_axis *axis)
{
	const struct curves *c = p->c;
	struct plot *plot = &p->plot[side];

	plot->x = (struct plot_axis){ axis->label, 0, end / axis->unit, 0 };
	curves_add_panel(p, side, HISTORY_LOSS, "Training loss", axis);
	if (curves_largest(c, c->accuracy) > 0) {
		curves_add_panel(p, side, c->accuracy,
		    c->accuracy == HISTORY_MAP ? "Validation mAP, %" :
		    "Validation top-1, %", axis);
		if (c->target > 0)
			curves_mark_target(p, &p->panel[side][1], axis);
	}
	curves_add_strips(p, plot, axis);
	plot->panel = p->panel[side];
}

static int
curves_draw_time(struct curves_picture *p, const char *path)
{
	static const struct curves_axis epochs = { CURVES_EPOCH, 1, "epoch" },
	    times[] = { { CURVES_SECONDS, 3600, "hours of training" },
		{ CURVES_SECONDS, 60, "minutes of training" },
		{ CURVES_SECONDS, 1, "seconds of training" } };
	double seconds = 0, epoch = 0;
	int unit = 0;

	for (size_t i = 0; i < p->c->points; i++) {
		const struct curves_point *at = &p->c->point[i];

		if (at->series == CURVES_REACHED)
			continue;
		seconds = fmax(seconds, at->v[CURVES_SECONDS]);
		epoch = fmax(epoch, at->v[CURVES_EPOCH]);
	}
	while (unit < 2 && seconds < 5 * times[unit].unit)
		unit++;
	curves_add_side(p, 0, seconds, &times[unit]);
	curves_add_side(p, 1, epoch, &epochs);
	p->plot[0].title = "Training";
	p->plot[0].w = 1120;
	p->plot[0].h = 140 + 250 * p->plot[0].panels + 18 * p->plot[0].strips;
	return plot_draw(p->plot, SIDES, path);
}

static int
curves_draw_batches(struct curves_picture *p, const char *path)
{
	static const struct curves_axis axis = { CURVES_BATCH, 1,
		"batch, clips" };
	struct plot *plot = &p->plot[0];

	curves_add_panel(p, 0, p->c->accuracy, p->c->accuracy == HISTORY_MAP ?
	    "Validation mAP after training, %" :
	    "Validation top-1 after training, %", &axis);
	plot->title = "Accuracy over the batch";
	plot->w = 640;
	plot->h = 400;
	plot->x = (struct plot_axis){ axis.label, 0, 0, 2 };
	plot->panel = p->panel[0];
	return plot_draw(plot, 1, path);
}

int
curves_draw(const struct curves *c, const char *path)
{
	struct curves_picture p = { .c = c };
	int bad;

	p.plot[0].note = curves_own(&p, curves_note(c));
	bad = (c->over == CURVES_OVER_BATCH ? curves_draw_batches :
	    curves_draw_time)(&p, path);
	for (size_t i = 0; i < p.n; i++)
		free(p.memory[i]);
	free(p.memory);
	return bad;
}
