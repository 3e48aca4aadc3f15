/* Curves over a common axis, in panels above one another. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "media/plot.h"
#include "media/plot_style.h"
#include "media/scale.h"

/* ---- what all pictures share ---- */

int
plot_head_height(const char *title, const char *note)
{
	return MARGIN + (title != NULL ? 26 * UNIT : 0) +
	    (note != NULL ? LINE : 0);
}

void
plot_head(struct canvas *c, const char *title, const char *note)
{
	struct text_style s = { UNIT + 1, TEXT_LEFT, 1, 0, black };
	int y = MARGIN;

	if (title != NULL) {
		char *fit = canvas_text_fit(title, UNIT + 1, c->m->w - 2 * MARGIN);

		canvas_text(c, MARGIN, y + 8 * UNIT, fit, &s);
		free(fit);
		y += 26 * UNIT;
	}
	if (note != NULL) {
		char *fit = canvas_text_fit(note, UNIT, c->m->w - 2 * MARGIN);

		plot_text(c, MARGIN, y + 4 * UNIT, fit, TEXT_LEFT, grey);
		free(fit);
	}
}

void
plot_text(struct canvas *c, int x, int y, const char *text,
    enum text_hold hold, struct ink ink)
{
	struct text_style s = { UNIT, hold, 0, 0, ink };

	canvas_text(c, x, y, text, &s);
}

/* ---- one panel ---- */

struct area { int x, y, w, h; struct scale sx, sy; };

static int
shown(const struct scale *s, double v)
{
	return isfinite(v) && (s->log == 0 || v > 0);
}

/* A value far off the scale is as good as one just outside the panel. */
static double
near(double t)
{
	return t < -1 ? -1 : t > 2 ? 2 : t;
}

static struct point
place(const struct area *a, double x, double y)
{
	return (struct point){ a->x + near(scale_place(&a->sx, x)) * a->w,
		a->y + (1 - near(scale_place(&a->sy, y))) * a->h };
}

/* A stretch of a series without gaps. */
static void
draw_stretch(struct canvas *c, const struct area *a,
    const struct plot_series *s, int from, int to)
{
	struct point *p = xcalloc(2 * (size_t)(to - from), sizeof(*p));
	struct ink ink = canvas_palette(s->style);
	double dash[8];
	int n = 0;

	for (int i = from; i < to; i++) {
		p[n++] = place(a, s->x[i], s->y[i]);
		if (s->kind == PLOT_STEPS && i + 1 < s->n &&
		    shown(&a->sx, s->x[i + 1]))
			p[n++] = place(a, s->x[i + 1], s->y[i]);
		if (s->kind == PLOT_MARKS)
			canvas_mark(c, p[n - 1], 5 * UNIT, s->style, ink);
	}
	if (s->kind != PLOT_MARKS)
		canvas_path(c, p, n, 1.75 * UNIT,
		    canvas_dash(s->style, 1.75 * UNIT, dash), ink);
	free(p);
}

static void
draw_series(struct canvas *c, const struct area *a,
    const struct plot_series *s)
{
	int from = 0;

	for (int i = 0; i <= s->n; i++) {
		if (i < s->n && shown(&a->sy, s->y[i]) &&
		    shown(&a->sx, s->x[i]))
			continue;
		if (i > from)
			draw_stretch(c, a, s, from, i);
		from = i + 1;
	}
}

/* The names of the series, from the right, in the line of the label. */
static void
draw_legend(struct canvas *c, const struct area *a,
    const struct plot_panel *p, int y)
{
	int x = a->x + a->w, sample = 22 * UNIT;

	for (int i = p->n - 1; i >= 0; i--) {
		const struct plot_series *s = &p->series[i];
		struct ink ink = canvas_palette(s->style);
		double dash[8];

		if (s->name == NULL)
			continue;
		plot_text(c, x, y, s->name, TEXT_RIGHT, black);
		x -= canvas_text_width(s->name, UNIT) + 7 * UNIT + sample;
		if (s->kind == PLOT_MARKS)
			canvas_mark(c, (struct point){ x + sample / 2, y },
			    5 * UNIT, s->style, ink);
		else
			canvas_path(c, (struct point[]){ { x, y },
			    { x + sample, y } }, 2, 1.75 * UNIT,
			    canvas_dash(s->style, 1.75 * UNIT, dash), ink);
		x -= 12 * UNIT;
	}
}

static struct scale
fit(const struct plot_axis *axis, double min, double max, int room)
{
	int log = axis->log;

	if (axis->min < axis->max)
		return (struct scale){ axis->min, axis->max, log };
	if (!(min <= max)) {		/* nothing to show */
		min = log ? 1 : 0;
		max = log ? log : 1;
	}
	return scale_fit(min, max, log, room);
}

/* The range of the values of a panel, x or y, that its scale can show. */
static void
widen(const struct plot_panel *p, const struct plot_axis *axis, int of_x,
    double *min, double *max)
{
	struct scale s = { 0, 1, axis->log };

	for (int i = 0; i < p->n; i++)
		for (int k = 0; k < p->series[i].n; k++) {
			double v = of_x ? p->series[i].x[k] : p->series[i].y[k];

			if (!shown(&s, v))
				continue;
			*min = fmin(*min, v);
			*max = fmax(*max, v);
		}
}

static void
draw_panel(struct canvas *c, const struct plot *plot, int number,
    struct area *a)
{
	const struct plot_panel *p = &plot->panel[number];
	struct text_style bold = { UNIT, TEXT_LEFT, 1, 0, black };
	struct tick tick[SCALE_TICKS];
	double min = INFINITY, max = -INFINITY;
	int n;

	widen(p, &p->y, 0, &min, &max);
	a->sy = fit(&p->y, min, max, 1);
	if (p->y.label != NULL)
		canvas_text(c, a->x, a->y - LINE / 2 - UNIT, p->y.label, &bold);
	draw_legend(c, a, p, a->y - LINE / 2 - UNIT);
	n = scale_ticks(&a->sy, a->h / (24 * UNIT) + 1, tick);
	for (int i = 0; i < n; i++) {
		int y = (int)place(a, a->sx.min, tick[i].value).y;

		canvas_fill(c, a->x, y - UNIT / 2, a->w, UNIT, faint);
		plot_text(c, a->x - 5 * UNIT, y, tick[i].text, TEXT_RIGHT, grey);
	}
	for (int i = 0; i < plot->rules; i++)
		if (shown(&a->sx, plot->rule[i])) {
			int x = (int)place(a, plot->rule[i], a->sy.min).x;

			canvas_fill(c, x - UNIT / 2, a->y, UNIT, a->h, faint);
		}
	canvas_fill(c, a->x, a->y + a->h, a->w, UNIT, rule);
	/* Lines may touch the border by half their width, but not cross it. */
	canvas_clip(c, a->x - 3 * UNIT, a->y - 3 * UNIT, a->w + 6 * UNIT,
	    a->h + 6 * UNIT);
	for (int i = 0; i < p->n; i++)
		draw_series(c, a, &p->series[i]);
	canvas_clip(c, 0, 0, 0, 0);
}

static void
draw_x_axis(struct canvas *c, const struct plot *p, const struct area *a)
{
	struct tick tick[SCALE_TICKS];
	int n = scale_ticks(&a->sx, a->w / (50 * UNIT) + 1, tick);
	int y = a->y + a->h;

	for (int i = 0; i < n; i++) {
		int x = (int)place(a, tick[i].value, a->sy.min).x;

		canvas_fill(c, x - UNIT / 2, y, UNIT, 4 * UNIT, rule);
		plot_text(c, x, y + 12 * UNIT, tick[i].text, TEXT_MIDDLE, grey);
	}
	if (p->x.label != NULL)
		plot_text(c, a->x + a->w / 2, y + 28 * UNIT, p->x.label,
		    TEXT_MIDDLE, black);
}

/* Room for the longest number beside any panel. */
static int
left_width(const struct plot *p, int h)
{
	struct tick tick[SCALE_TICKS];
	int most = 0;

	for (int i = 0; i < p->panels; i++) {
		double min = INFINITY, max = -INFINITY;
		struct scale s;
		int n;

		widen(&p->panel[i], &p->panel[i].y, 0, &min, &max);
		s = fit(&p->panel[i].y, min, max, 1);
		n = scale_ticks(&s, h / (24 * UNIT) + 1, tick);
		for (int k = 0; k < n; k++)
			most = (int)fmax(most, canvas_text_width(tick[k].text,
			    UNIT));
	}
	return most;
}

struct image *
plot_draw(const struct plot *p)
{
	struct canvas *c = canvas_new(p->w, p->h, paper);
	int top = plot_head_height(p->title, p->note) + 4 * UNIT;
	int bottom = MARGIN + (p->x.label != NULL ? 34 : 18) * UNIT;
	int each = (p->h - top - bottom) / (p->panels > 0 ? p->panels : 1);
	double min = INFINITY, max = -INFINITY;
	struct area a = { .h = each - LINE - 12 * UNIT };

	plot_head(c, p->title, p->note);
	a.x = MARGIN + left_width(p, a.h) + 5 * UNIT;
	a.w = p->w - MARGIN - 4 * UNIT - a.x;
	for (int i = 0; i < p->panels; i++)
		widen(&p->panel[i], &p->x, 1, &min, &max);
	a.sx = fit(&p->x, min, max, 0);
	for (int i = 0; i < p->panels; i++) {
		a.y = top + i * each + LINE;
		draw_panel(c, p, i, &a);
	}
	if (p->panels > 0)
		draw_x_axis(c, p, &a);
	return canvas_take(c);
}
