/* Curves over a common axis, in panels above one another. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "draw/cairo/page.h"
#include "draw/plot.h"
#include "draw/scale.h"

#define LINE_WIDTH 1.75

struct area { double x, y, w, h; struct scale sx, sy; };

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
draw_stretch(struct page *page, const struct area *a,
    const struct plot_series *s, int from, int to)
{
	struct point *at = xcalloc((size_t)(to - from), sizeof(*at));

	for (int i = from; i < to; i++)
		at[i - from] = place(a, s->x[i], s->y[i]);
	page_path(page, at, to - from, LINE_WIDTH, s->style,
	    ink_palette(s->style));
	free(at);
}

static void
draw_series(struct page *page, const struct area *a,
    const struct plot_series *s)
{
	int from = 0;

	for (int i = 0; i <= s->n; i++) {
		if (i < s->n && shown(&a->sy, s->y[i]) &&
		    shown(&a->sx, s->x[i]))
			continue;
		if (i > from)
			draw_stretch(page, a, s, from, i);
		from = i + 1;
	}
}

/* The names of the series, from the right, in the line of the label. */
static void
draw_legend(struct page *page, const struct area *a,
    const struct plot_panel *p, double y)
{
	const double sample = 24;
	double x = a->x + a->w;

	for (int i = p->n - 1; i >= 0; i--) {
		const struct plot_series *s = &p->series[i];

		if (s->name == NULL)
			continue;
		page_word(page, x, y, s->name, TEXT_RIGHT, ink_black);
		x -= page_text_width(page, s->name, TEXT_SIZE, 0) + 6 + sample;
		page_path(page, (struct point[]){ { x, y }, { x + sample, y } },
		    2, LINE_WIDTH, s->style, ink_palette(s->style));
		x -= 14;
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

static struct scale
scale_of(const struct plot_panel *p)
{
	double min = INFINITY, max = -INFINITY;

	widen(p, &p->y, 0, &min, &max);
	return fit(&p->y, min, max, 1);
}

/* Hairlines lie on halves of a unit, which are whole pixels. */
static double
crisp(double at)
{
	return floor(at * PAGE_SCALE) / PAGE_SCALE;
}

static void
draw_panel(struct page *page, const struct plot *plot, int number,
    struct area *a)
{
	const struct plot_panel *p = &plot->panel[number];
	struct text_style bold = { TEXT_SIZE, TEXT_LEFT, 1, 0, ink_black };
	struct tick tick[SCALE_TICKS];
	int n;

	a->sy = scale_of(p);
	if (p->y.label != NULL)
		page_text(page, a->x, a->y - PAGE_LINE / 2. - 1, p->y.label,
		    &bold);
	draw_legend(page, a, p, a->y - PAGE_LINE / 2. - 1);
	n = scale_ticks(&a->sy, (int)a->h / 24 + 1, tick);
	for (int i = 0; i < n; i++) {
		double y = place(a, a->sx.min, tick[i].value).y;

		page_fill(page, a->x, crisp(y), a->w, .5, ink_faint);
		page_word(page, a->x - 6, y, tick[i].text, TEXT_RIGHT, ink_grey);
	}
	for (int i = 0; i < plot->rules; i++)
		if (shown(&a->sx, plot->rule[i]))
			page_fill(page, crisp(place(a, plot->rule[i],
			    a->sy.min).x), a->y, .5, a->h, ink_faint);
	page_fill(page, a->x, crisp(a->y + a->h), a->w, 1, ink_rule);
	/* Lines may touch the border by half their width, but not cross it. */
	cairo_save(page_cairo(page));
	cairo_rectangle(page_cairo(page), a->x - 2, a->y - 2, a->w + 4,
	    a->h + 4);
	cairo_clip(page_cairo(page));
	for (int i = 0; i < p->n; i++)
		draw_series(page, a, &p->series[i]);
	cairo_restore(page_cairo(page));
}

static void
draw_x_axis(struct page *page, const struct plot *p, const struct area *a)
{
	struct tick tick[SCALE_TICKS];
	int n = scale_ticks(&a->sx, (int)a->w / 50 + 1, tick);
	double y = a->y + a->h;

	for (int i = 0; i < n; i++) {
		double x = place(a, tick[i].value, a->sy.min).x;

		page_fill(page, crisp(x), y, 1, 4, ink_rule);
		page_word(page, x, y + 13, tick[i].text, TEXT_MIDDLE, ink_grey);
	}
	if (p->x.label != NULL)
		page_word(page, a->x + a->w / 2, y + 29, p->x.label, TEXT_MIDDLE,
		    ink_black);
}

/* Room for the longest number beside any panel. */
static double
left_width(struct page *page, const struct plot *p, double h)
{
	struct tick tick[SCALE_TICKS];
	double most = 0;

	for (int i = 0; i < p->panels; i++) {
		struct scale s = scale_of(&p->panel[i]);
		int n = scale_ticks(&s, (int)h / 24 + 1, tick);

		for (int k = 0; k < n; k++)
			most = fmax(most, page_text_width(page, tick[k].text,
			    TEXT_SIZE, 0));
	}
	return ceil(most);
}

int
plot_draw(const struct plot *p, const char *path)
{
	struct page *page = page_new();
	double top = page_head_height(p->title, p->note) + 6;
	double bottom = PAGE_MARGIN + (p->x.label != NULL ? 34 : 18);
	double each = floor((p->h - top - bottom) / fmax(p->panels, 1));
	double min = INFINITY, max = -INFINITY;
	struct area a = { .h = each - PAGE_LINE - 14 };

	if (page_size(page, p->w, p->h, path, p->title) != 0)
		return page_done(page);
	page_head(page, p->w, p->title, p->note);
	a.x = PAGE_MARGIN + left_width(page, p, a.h) + 6;
	a.w = p->w - PAGE_MARGIN - 4 - a.x;
	for (int i = 0; i < p->panels; i++)
		widen(&p->panel[i], &p->x, 1, &min, &max);
	a.sx = fit(&p->x, min, max, 0);
	for (int i = 0; i < p->panels; i++) {
		a.y = top + i * each + PAGE_LINE;
		draw_panel(page, p, i, &a);
	}
	if (p->panels > 0)
		draw_x_axis(page, p, &a);
	return page_done(page);
}
