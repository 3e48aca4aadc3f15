/*
 * Draw curves of runs: losses above accuracies, over seconds on the left and
 * over epochs on the right.  Below them, strips show the batch shapes of the
 * schedules.
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

/* A unit of time, and its length in seconds. */
struct curves_unit { const char *label; double seconds; };

/* ---- points ---- */

/*
 * The points of a series, for both sides.  x[0] owns the memory of all arrays.
 */
struct curves_points { double *x[SIDES], *y, *low, *high; int n; };

/*
 * A long log has more points than the picture has pixels, and would show only
 * noise.  Replace each ${every} points by their mean, as a log line itself is
 * the mean of its steps.
 */
static struct curves_points
curves_points_of(const struct curves_point *at, size_t n, size_t every,
    double scale, double second)
{
	struct curves_points p = { .n = (int)((n + every - 1) / every) };
	double *memory = xcalloc((size_t)p.n * 5 + 1, sizeof(*memory));

	p.x[0] = memory;
	p.x[1] = memory + p.n;
	p.y = memory + 2 * p.n;
	p.low = memory + 3 * p.n;
	p.high = memory + 4 * p.n;
	for (size_t i = 0; i < n; i++) {
		size_t k = i / every, first = k * every;
		size_t of = n - first < every ? n - first : every;
		double part = 1. / (double)of;

		/* A group is drawn at its last point. */
		p.x[0][k] = at[i].seconds / second;
		p.x[1][k] = at[i].epoch;
		p.y[k] += part * scale * at[i].value;
		p.low[k] += part * scale * (at[i].value - at[i].error);
		p.high[k] += part * scale * (at[i].value + at[i].error);
	}
	return p;
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

/*
 * Return the largest cell of a stage as text, and the number of others.  The
 * caller frees it.
 */
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

/* Interpolate the seconds at which the curve reached ${epoch}. */
static double
curves_seconds_at(const struct curves_line *l, double epoch)
{
	struct curves_point from = { 0 };

	for (size_t i = 0; i < l->series[HISTORY_LOSS].n; i++) {
		struct curves_point to = l->series[HISTORY_LOSS].at[i];

		if (to.epoch >= epoch)
			return to.epoch == from.epoch ? to.seconds :
			    from.seconds + (to.seconds - from.seconds) *
			    (epoch - from.epoch) / (to.epoch - from.epoch);
		from = to;
	}
	return from.seconds;
}

/*
 * Bands of equal cells, up to the end of the curve, over seconds and over
 * epochs.
 */
struct curves_bands { struct plot_band *side[SIDES]; int n; };

static struct curves_bands
curves_bands_of(const struct curves_line *l, double largest, double second)
{
	const struct schedule *s = curves_schedule(l);
	size_t points = l->series[HISTORY_LOSS].n;
	double end = points > 0 ?
	    l->series[HISTORY_LOSS].at[points - 1].epoch : 0;
	struct curves_bands b = { .n = 0 };

	if (s == NULL)
		return b;
	for (int side = 0; side < SIDES; side++)
		b.side[side] = xcalloc((size_t)s->stages,
		    sizeof(struct plot_band));
	for (int i = 0, k; i < s->stages; i = k) {
		const struct stage *g = &s->stage[i];
		struct plot_band band = { .from = g->epoch_begin,
			.shade = stage_cost(g, &cost_input) / largest };

		for (k = i + 1; k < s->stages &&
		    curves_same_cells(g, &s->stage[k]); )
			k++;
		if (band.from >= end)
			break;
		/* The last batch may extend beyond the last epoch. */
		band.to = k == s->stages ? end :
		    fmin(s->stage[k - 1].epoch_end, end);
		band.text = curves_band_text(g);
		b.side[1][b.n] = band;
		band.from = curves_seconds_at(l, band.from) / second;
		band.to = curves_seconds_at(l, band.to) / second;
		b.side[0][b.n++] = band;
	}
	return b;
}

static void
curves_free_bands(struct curves_bands *b)
{
	for (int i = 0; i < b->n; i++)
		free((char *)b->side[1][i].text);
	for (int side = 0; side < SIDES; side++)
		free(b->side[side]);
}

/* Return the cost of the most expensive stage, which gets the darkest shade. */
static double
curves_largest_cost(const struct curves *c)
{
	double max = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct schedule *s = curves_schedule(&c->line[i]);

		for (int k = 0; s != NULL && k < s->stages; k++)
			max = fmax(max, stage_cost(&s->stage[k],
			    &cost_input));
	}
	return max;
}

/* ---- the picture ---- */

struct curves_picture {
	const struct curves *c;
	struct curves_unit unit;
	int of[PANELS], panels;		/* series of each panel; number of
					 * panels */
	size_t n[PANELS];		/* lines of each panel */
	struct curves_points *points[PANELS];	/* [n] */
	struct plot_series *series[SIDES][PANELS];	/* [n] */
	struct plot_panel panel[SIDES][PANELS];
	double level;			/* the target, in percent */
	struct plot_drop *drop[SIDES];	/* [curves] at most; NULL: no target */
	struct curves_bands *bands;		/* [curves] */
	struct plot_strip *strip[SIDES];	/* [curves] at most */
	double *boundary[SIDES];
	struct plot plot[SIDES];
};

/* Find the ends of the axes. */
static void
curves_find_ends(const struct curves *c, double *seconds, double *epoch)
{
	*seconds = *epoch = 0;
	for (size_t i = 0; i < c->n; i++)
		for (int of = 0; of < HISTORY_SERIES; of++)
			for (size_t k = 0; k < c->line[i].series[of].n; k++) {
				const struct curves_point *p =
				    &c->line[i].series[of].at[k];

				*seconds = fmax(*seconds, p->seconds);
				*epoch = fmax(*epoch, p->epoch);
			}
}

static struct curves_unit
curves_unit_of(double seconds)
{
	static const struct curves_unit units[] = { { "hours of training",
	    3600 },
		{ "minutes of training", 60 }, { "seconds of training", 1 } };
	int i = 0;

	while (i < 2 && seconds < 5 * units[i].seconds)
		i++;
	return units[i];
}

/* Return the points of the curve that has the most of the series ${of}. */
static size_t
curves_largest(const struct curves *c, int of)
{
	size_t largest = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->line[i].series[of].n > largest)
			largest = c->line[i].series[of].n;
	return largest;
}

/* Add the series ${of} of all curves to panel ${k} of both sides. */
static void
curves_add_series_of(struct curves_picture *p, int k, int of)
{
	int accuracy = of == HISTORY_TOP1 || of == HISTORY_MAP;
	size_t largest = curves_largest(p->c, of);

	for (size_t i = 0; i < p->c->n; i++) {
		const struct curves_line *l = &p->c->line[i];
		size_t n = l->series[of].n, to = p->n[k]++;
		struct curves_points *at = &p->points[k][to];

		/* Accuracies are in percent, and few enough to show all.
		 * Validation losses have dots, so they are few. */
		*at = curves_points_of(l->series[of].at, n, accuracy ? 1 :
		    n / (of == HISTORY_LOSS ? MAX : MARKS) + 1,
		    accuracy ? 100 : 1, p->unit.seconds);
		for (int side = 0; side < SIDES; side++)
			p->series[side][k][to] = (struct plot_series){
				.name = of == HISTORY_VAL_LOSS ? NULL : l->name,
				.n = at->n, .x = at->x[side], .y = at->y,
				.style = (int)i,
				.low = l->runs > 1 ? at->low : NULL,
				.high = l->runs > 1 ? at->high : NULL,
				.marks = of == HISTORY_VAL_LOSS ||
				(accuracy && largest <= MARKS) };
	}
}

/*
 * Fill panel ${k} of both sides; that of losses has those of validations, too.
 */
static void
curves_add_panel(struct curves_picture *p, int k)
{
	static const char *const label[] = { "Training loss",
		"Validation top-1, %", "Validation mAP, %" };
	int of = p->of[k], both = of == HISTORY_LOSS &&
	    curves_largest(p->c, HISTORY_VAL_LOSS) > 0;
	size_t most = p->c->n * 2;

	p->points[k] = xcalloc(most, sizeof(*p->points[k]));
	for (int side = 0; side < SIDES; side++)
		p->series[side][k] = xcalloc(most, sizeof(struct plot_series));
	curves_add_series_of(p, k, of);
	if (both)
		curves_add_series_of(p, k, HISTORY_VAL_LOSS);
	for (int side = 0; side < SIDES; side++)
		p->panel[side][k] = (struct plot_panel){
			.y = { both ? "Training loss; dots: validation loss" :
			label[of], 0, 0, 0 }, .series = p->series[side][k],
			.n = (int)p->n[k] };
}

/* The text of a drop: ${v} with three digits, and how many runs reach it. */
static char *
curves_reach_text(double v, size_t reached, size_t runs)
{
	return runs == 1 ? xprintf("%.3g", v) :
	    xprintf("%.3g, %zu of %zu runs", v, reached, runs);
}

/*
 * Mark the target in the panels of the accuracy, and where each curve reaches
 * it.  The axis begins at a multiple of ten, 5 to 15 points below the target:
 * schedules that reach it differ in the last points.
 */
static void
curves_mark_target(struct curves_picture *p)
{
	const struct curves *c = p->c;

	p->level = 100 * c->target;
	for (int side = 0; side < SIDES; side++) {
		struct plot_panel *panel = &p->panel[side][PANELS - 1];

		p->drop[side] = xcalloc(c->n, sizeof(*p->drop[side]));
		for (size_t i = 0; i < c->n; i++) {
			struct curves_reach r = curves_reach(&c->line[i],
			    p->of[PANELS - 1], c->target);
			double x = side == 0 ? r.seconds / p->unit.seconds :
			    r.epoch;

			if (r.runs > 0 && isfinite(x))
				p->drop[side][panel->drops++] =
				    (struct plot_drop){ x, (int)i,
				    curves_reach_text(x, r.runs,
				    c->line[i].runs) };
		}
		panel->y.min = fmax(10 * floor((p->level - 5) / 10), 0);
		panel->y.max = 100;
		panel->level = &p->level;
		panel->drop = p->drop[side];
	}
}

/*
 * Add the cells as strips.  Draw rules where they change, but only for a single
 * curve: with several, the rules of one would cross the lines of the others.
 */
static void
curves_add_strips(struct curves_picture *p)
{
	const struct curves *c = p->c;
	double largest = curves_largest_cost(c);

	p->bands = xcalloc(c->n, sizeof(*p->bands));
	for (size_t i = 0; i < c->n; i++)
		p->bands[i] = curves_bands_of(&c->line[i], largest,
		    p->unit.seconds);
	for (int side = 0; side < SIDES; side++) {
		struct plot *plot = &p->plot[side];
		int k = 0;

		p->strip[side] = xcalloc(c->n, sizeof(*p->strip[side]));
		for (size_t i = 0; i < c->n; i++)
			if (p->bands[i].n > 0)
				p->strip[side][k++] = (struct plot_strip){
					(int)i, p->bands[i].side[side],
					p->bands[i].n };
		plot->strip = p->strip[side];
		plot->strips = k;
		plot->strip_label = "Cells, batch x frames x crop";
		p->boundary[side] = xcalloc((size_t)p->bands[0].n + 1,
		    sizeof(double));
		for (int i = 1; c->n == 1 && i < p->bands[0].n; i++)
			p->boundary[side][plot->rules++] =
			    p->bands[0].side[side][i].from;
		plot->rule = p->boundary[side];
	}
}

static void
curves_free_picture(struct curves_picture *p)
{
	for (int k = 0; k < p->panels; k++) {
		for (size_t i = 0; i < p->n[k]; i++)
			free(p->points[k][i].x[0]);
		free(p->points[k]);
		for (int side = 0; side < SIDES; side++)
			free(p->series[side][k]);
	}
	for (size_t i = 0; i < p->c->n; i++)
		curves_free_bands(&p->bands[i]);
	free(p->bands);
	for (int side = 0; side < SIDES; side++) {
		for (int i = 0; p->drop[side] != NULL &&
		    i < p->panel[side][PANELS - 1].drops; i++)
			free((char *)p->drop[side][i].text);
		free(p->drop[side]);
		free(p->strip[side]);
		free(p->boundary[side]);
	}
}

/*
 * Return a note which curves are means of how many runs, or NULL.  The caller
 * frees it.
 */
static char *
curves_note_of(const struct curves *c)
{
	struct buffer b = { 0 };

	for (size_t i = 0; i < c->n; i++)
		if (c->line[i].runs > 1)
			buffer_printf(&b, "%s%s: mean of %zu runs", b.n > 0 ?
			    "; " : "", c->line[i].name, c->line[i].runs);
	if (b.n > 0)
		buffer_text(&b, "; shaded: the standard error of the mean");
	return b.data;
}

int
curves_draw(const struct curves *c, const char *path)
{
	int of = curves_accuracy(c);
	struct curves_picture p = { .c = c, .of = { HISTORY_LOSS, of },
		.panels = 1 };
	char *note = curves_note_of(c);
	double seconds, epoch;
	int bad;

	for (size_t i = 0; i < c->n; i++)
		if (c->line[i].series[of].n > 0)
			p.panels = PANELS;
	curves_find_ends(c, &seconds, &epoch);
	p.unit = curves_unit_of(seconds);
	for (int k = 0; k < p.panels; k++)
		curves_add_panel(&p, k);
	if (p.panels == PANELS && c->target > 0)
		curves_mark_target(&p);
	p.plot[0].x = (struct plot_axis){ p.unit.label, 0,
		seconds / p.unit.seconds, 0 };
	p.plot[1].x = (struct plot_axis){ "epoch", 0, epoch, 0 };
	curves_add_strips(&p);
	for (int side = 0; side < SIDES; side++) {
		p.plot[side].panel = p.panel[side];
		p.plot[side].panels = p.panels;
	}
	p.plot[0].title = "Training";
	p.plot[0].note = note;
	p.plot[0].w = 1120;
	p.plot[0].h = 140 + 250 * p.panels + 18 * p.plot[0].strips;
	bad = plot_beside(p.plot, SIDES, path);
	curves_free_picture(&p);
	free(note);
	return bad;
}
