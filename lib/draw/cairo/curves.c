/* Draw curves over a common x axis, in panels above one another. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "draw/cairo/curves.h"

static int
plot_shown(const struct scale *s, double v)
{
	return isfinite(v) && (s->log == 0 || v > 0);
}

/*
 * Limit positions far outside the panel: cairo's coordinates are 24.8 fixed
 * point and could overflow.
 */
static double
plot_limit(double t)
{
	return t < -1 ? -1 : t > 2 ? 2 : t;
}

struct point
curves_place(const struct area *a, double x, double y)
{
	return (struct point){ a->x + plot_limit(scale_place(&a->sx, x)) * a->w,
		a->y + (1 - plot_limit(scale_place(&a->sy, y))) * a->h };
}

/* Draw points ${from} to ${to} - 1 of a series, which has no gap there. */
static void
plot_draw_stretch(struct page *page, const struct area *a,
    const struct plot_series *s, int from, int to)
{
	struct color color = color_palette(s->style);
	struct point *at = xcalloc((size_t)(to - from), sizeof(*at));

	for (int i = from; i < to; i++)
		at[i - from] = curves_place(a, s->x[i], s->y[i]);
	page_path(page, at, to - from, CURVES_LINE, s->style, color);
	for (int i = 0; i < to - from && s->marks; i++)
		page_dot(page, at[i], 2.25, color);
	free(at);
}

/*
 * Shade the band around these points: forward along ${low}, back along ${high}.
 */
static void
plot_shade_stretch(struct page *page, const struct area *a,
    const struct plot_series *s, int from, int to)
{
	int n = to - from;
	struct point *at = xcalloc((size_t)n * 2, sizeof(*at));

	for (int i = 0; i < n; i++) {
		at[i] = curves_place(a, s->x[from + i], s->low[from + i]);
		at[2 * n - 1 - i] = curves_place(a, s->x[from + i],
		    s->high[from + i]);
	}
	page_area(page, at, 2 * n, color_palette(s->style), .25);
	free(at);
}

/*
 * Draw a series stretch by stretch, between points that cannot be shown.  With
 * ${shade}, draw its band instead of its line.
 */
static void
plot_draw_series(struct page *page, const struct area *a,
    const struct plot_series *s, int shade)
{
	int from = 0;

	for (int i = 0; i <= s->n; i++) {
		if (i < s->n && plot_shown(&a->sx, s->x[i]) && (shade ?
		    plot_shown(&a->sy, s->low[i]) &&
		    plot_shown(&a->sy, s->high[i]) : plot_shown(&a->sy,
		    s->y[i])))
			continue;
		if (i > from)
			(shade ? plot_shade_stretch : plot_draw_stretch)(page,
			    a, s, from, i);
		from = i + 1;
	}
}

/*
 * Draw the names of the series in the line of the panel's label, from right to
 * left.
 */
static void
plot_draw_legend(struct page *page, const struct area *a,
    const struct plot_panel *p, double y)
{
	double x = a->x + a->w;

	for (int i = p->n - 1; i >= 0; i--) {
		const struct plot_series *s = &p->series[i];

		if (s->name == NULL)
			continue;
		page_word(page, x, y, s->name, TEXT_RIGHT, color_black);
		x -= page_text_width(page, s->name, TEXT_SIZE, 0) + 6;
		curves_sample(page, x, y, s->style);
		x -= CURVES_SAMPLE + 14;
	}
}

static struct scale
plot_fit(const struct plot_axis *axis, double min, double max, int margin)
{
	int log = axis->log;

	if (axis->min < axis->max)
		return (struct scale){ axis->min, axis->max, log, 0 };
	if (!(min <= max)) {		/* nothing to show */
		min = log ? 1 : 0;
		max = log ? log : 1;
	}
	return scale_fit(min, max, log, margin);
}

/*
 * Extend ${*min} and ${*max} by the values of a panel, x or y, that its scale
 * can show.
 */
static void
plot_widen(const struct plot_panel *p, const struct plot_axis *axis, int of_x,
    double *min, double *max)
{
	struct scale s = { 0, 1, axis->log, 0 };

	for (int i = 0; i < p->n; i++)
		for (int k = 0; k < 3; k++) {
			const struct plot_series *one = &p->series[i];
			const double *v = of_x ? one->x : k == 0 ? one->y :
			    k == 1 ? one->low : one->high;

			for (int m = 0; v != NULL && m < one->n; m++)
				if (plot_shown(&s, v[m])) {
					*min = fmin(*min, v[m]);
					*max = fmax(*max, v[m]);
				}
		}
}

static struct scale
plot_scale_of(const struct plot_panel *p)
{
	double min = INFINITY, max = -INFINITY;

	plot_widen(p, &p->y, 0, &min, &max);
	return plot_fit(&p->y, min, max, 1);
}

double
curves_align(double at)
{
	return floor(at * PAGE_SCALE) / PAGE_SCALE;
}

/* Draw the level and the drops from it.  The texts stand one above the other,
 * on paper of their own, since a later drop may cross them. */
static void
plot_draw_level(struct page *page, const struct area *a,
    const struct plot_panel *p)
{
	double level = curves_place(a, a->sx.min, *p->level).y;
	double bottom = a->y + a->h;

	page_fill(page, a->x, curves_align(level), a->w, .5, color_gray);
	for (int i = 0; i < p->drops; i++)
		page_fill(page, curves_align(curves_place(a, p->drop[i].x,
		    *p->level).x), level, 1, bottom - level,
		    color_palette(p->drop[i].style));
	for (int i = 0; i < p->drops; i++) {
		const struct plot_drop *d = &p->drop[i];
		double x = curves_align(curves_place(a, d->x, *p->level).x);
		double y = bottom - 10 - PAGE_LINE * (p->drops - 1 - i);
		double w = page_text_width(page, d->text, TEXT_SIZE, 0);

		x += x + 6 + w > a->x + a->w ? -5 - w : 6;
		page_fill(page, x - 2, y - 7, w + 4, 14, color_paper);
		page_word(page, x, y, d->text, TEXT_LEFT, color_black);
	}
}

static void
plot_draw_panel(struct page *page, const struct plot *plot, int number,
    int legend, struct area *a)
{
	const struct plot_panel *p = &plot->panel[number];
	struct text_style bold = { TEXT_SIZE, TEXT_LEFT, 1, 0, color_black };
	struct tick tick[SCALE_TICKS];
	int n;

	a->sy = plot_scale_of(p);
	if (p->y.label != NULL)
		page_text(page, a->x, a->y - PAGE_LINE / 2. - 1, p->y.label,
		    &bold);
	if (legend)
		plot_draw_legend(page, a, p, a->y - PAGE_LINE / 2. - 1);
	n = scale_ticks(&a->sy, (int)a->h / 24 + 1, tick);
	for (int i = 0; i < n; i++) {
		double y = curves_place(a, a->sx.min, tick[i].value).y;

		page_fill(page, a->x, curves_align(y), a->w, .5, color_faint);
		page_word(page, a->x - 6, y, tick[i].text, TEXT_RIGHT,
		    color_gray);
	}
	for (int i = 0; i < plot->rules; i++)
		if (plot_shown(&a->sx, plot->rule[i]))
			page_fill(page, curves_align(curves_place(a,
			    plot->rule[i], a->sy.min).x), a->y, .5, a->h,
			    color_faint);
	page_fill(page, a->x, curves_align(a->y + a->h), a->w, 1, color_rule);
	/*
	 * Lines may overlap the border by half their width, but not cross it.
	 */
	cairo_save(page_cairo(page));
	cairo_rectangle(page_cairo(page), a->x - 2, a->y - 2, a->w + 4,
	    a->h + 4);
	cairo_clip(page_cairo(page));
	for (int i = 0; i < p->n; i++)
		if (p->series[i].low != NULL)
			plot_draw_series(page, a, &p->series[i], 1);
	for (int i = 0; i < p->n; i++)
		plot_draw_series(page, a, &p->series[i], 0);
	if (p->level != NULL)
		plot_draw_level(page, a, p);
	cairo_restore(page_cairo(page));
}

/* Draw the x axis at height ${y}. */
static void
plot_draw_x_axis(struct page *page, const struct plot *p, const struct area *a,
    double y)
{
	struct tick tick[SCALE_TICKS];
	int n = scale_ticks(&a->sx, (int)a->w / 50 + 1, tick);

	for (int i = 0; i < n; i++) {
		double x = curves_place(a, tick[i].value, a->sy.min).x;

		page_fill(page, curves_align(x), y, 1, 4, color_rule);
		page_word(page, x, y + 13, tick[i].text, TEXT_MIDDLE,
		    color_gray);
	}
	if (p->x.label != NULL)
		page_word(page, a->x + a->w / 2, y + 29, p->x.label,
		    TEXT_MIDDLE, color_black);
}

/*
 * Return the width of the widest tick label of any panel, or of a strip's line
 * sample.
 */
static double
plot_left_width(struct page *page, const struct plot *p, double h)
{
	double width = p->strips > 0 ? CURVES_SAMPLE : 0;
	struct tick tick[SCALE_TICKS];

	for (int i = 0; i < p->panels; i++) {
		struct scale s = plot_scale_of(&p->panel[i]);
		int n = scale_ticks(&s, (int)h / 24 + 1, tick);

		for (int k = 0; k < n; k++)
			width = fmax(width, page_text_width(page, tick[k].text,
			    TEXT_SIZE, 0));
	}
	return ceil(width);
}

/* Draw one of the plots that stand side by side into ${buffer}. */
static void
plot_draw_one(struct page *page, const struct plot *p, int legend,
    const struct area *buffer)
{
	double strips = curves_strips_height(p), min = INFINITY,
	    max = -INFINITY;
	/* 34 or 18 units are the height of the x axis. */
	double each = floor((buffer->h - (p->x.label != NULL ? 34 : 18) -
	    strips) / fmax(p->panels, 1));
	struct area a = { .h = each - PAGE_LINE - 14 };

	a.x = buffer->x + plot_left_width(page, p, a.h) + 6;
	a.w = buffer->x + buffer->w - a.x;
	for (int i = 0; i < p->panels; i++)
		plot_widen(&p->panel[i], &p->x, 1, &min, &max);
	a.sx = plot_fit(&p->x, min, max, 0);
	for (int i = 0; i < p->panels; i++) {
		a.y = buffer->y + i * each + PAGE_LINE;
		plot_draw_panel(page, p, i, legend, &a);
	}
	if (p->strips > 0) {
		a.y = buffer->y + p->panels * each - 8;
		curves_strips(page, p, &a);
		a.h = strips;
		page_fill(page, a.x, curves_align(a.y + a.h), a.w, 1,
		    color_rule);
	}
	if (p->panels > 0)
		plot_draw_x_axis(page, p, &a, a.y + a.h);
}

static int
plot_draw_all(const struct plot *p, int n, int legend, const char *path)
{
	const double gap = 28;
	struct page *page = page_new();
	double each = (p->w - 2 * PAGE_MARGIN - 4 + gap) / n;
	struct area memory = { .x = PAGE_MARGIN, .w = each - gap };

	if (page_size(page, p->w, p->h, path, p->title) != 0)
		return page_done(page);
	page_head(page, p->w, p->title, p->note);
	memory.y = page_head_height(p->title, p->note) + 6;
	if (!legend)
		memory.y += curves_legend(page, p, memory.y) + 6;
	memory.h = p->h - PAGE_MARGIN - memory.y;
	for (int i = 0; i < n; i++, memory.x += each)
		plot_draw_one(page, &p[i], legend, &memory);
	return page_done(page);
}

int
plot_draw(const struct plot *p, const char *path)
{
	return plot_draw_all(p, 1, 1, path);
}

int
plot_beside(const struct plot *p, int n, const char *path)
{
	return plot_draw_all(p, n, 0, path);
}
