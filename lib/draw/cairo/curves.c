/*
 * Draw curves over a common x axis, in panels above one another, with a legend
 * and with strips below them.  Lengths are in page units (page.h).
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "draw/cairo/page.h"
#include "draw/plot.h"
#include "draw/scale.h"

enum { STRIP = 15, STRIP_GAP = 3, NAME_GAP = 18 };

#define LINE 1.75			/* line width */
#define SAMPLE 24.			/* length of the line sample next to a
					 * name */

/* A panel on the page: its rectangle and its scales. */
struct area { double x, y, w, h; struct scale sx, sy; };

/* ---- places ---- */

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

/* Return the position of a point on the page. */
static struct point
plot_place(const struct area *a, double x, double y)
{
	return (struct point){ a->x + plot_limit(scale_place(&a->sx, x)) * a->w,
		a->y + (1 - plot_limit(scale_place(&a->sy, y))) * a->h };
}

/*
 * Round ${at} down to a half unit, a whole pixel of a PNG, so that hairlines
 * are pixel-aligned.
 */
static double
plot_align(double at)
{
	return floor(at * PAGE_SCALE) / PAGE_SCALE;
}

/* ---- scales ---- */

/*
 * Return the scale of ${axis}, which fits the values of ${n} panels, x or y,
 * that it can show.
 */
static struct scale
plot_scale(const struct plot_axis *axis, const struct plot_panel *panel, int n,
    int of_x)
{
	struct scale s = { axis->min, axis->max, axis->log, 0 };
	double min = INFINITY, max = -INFINITY;

	if (axis->min < axis->max)
		return s;
	for (const struct plot_panel *p = panel; p < panel + n; p++)
		for (int i = 0; i < 3 * p->n; i++) {
			const struct plot_series *one = &p->series[i / 3];
			const double *v = of_x ? one->x : i % 3 == 0 ? one->y :
			    i % 3 == 1 ? one->low : one->high;

			for (int m = 0; v != NULL && m < one->n; m++)
				if (plot_shown(&s, v[m])) {
					min = fmin(min, v[m]);
					max = fmax(max, v[m]);
				}
		}
	if (!(min <= max)) {		/* nothing to show */
		min = s.log ? 1 : 0;
		max = s.log ? s.log : 1;
	}
	return scale_fit(min, max, s.log, !of_x);
}

/* ---- series ---- */

/*
 * Draw a series stretch by stretch, between points that cannot be shown: its
 * line and dots, or with ${shade} its band.
 */
static void
plot_draw_series(struct page *page, const struct area *a,
    const struct plot_series *s, int shade)
{
	const double *y = shade ? s->low : s->y, *top = shade ? s->high : s->y;
	struct color color = color_palette(s->style);
	struct point *at = xcalloc(2 * (size_t)s->n + 1, sizeof(*at));
	int n = 0;

	for (int i = 0; i <= s->n; i++) {
		if (i < s->n && plot_shown(&a->sx, s->x[i]) &&
		    plot_shown(&a->sy, y[i]) && plot_shown(&a->sy, top[i])) {
			at[n++] = plot_place(a, s->x[i], y[i]);
			continue;
		}
		/* The band: forward along ${low}, back along ${high}. */
		for (int k = 0; k < n && shade; k++)
			at[n + k] = plot_place(a, s->x[i - 1 - k],
			    top[i - 1 - k]);
		if (n > 0 && shade)
			page_area(page, at, 2 * n, color, .25);
		else if (n > 0)
			page_path(page, at, n, LINE, s->style, color);
		for (int k = 0; k < n && !shade && s->marks; k++)
			page_dot(page, at[k], 2.25, color);
		n = 0;
	}
	free(at);
}

/* ---- names ---- */

/* Draw a sample of a line with ${style} that ends at ${x}. */
static void
plot_draw_sample(struct page *page, double x, double y, int style)
{
	page_path(page, (struct point[]){ { x - SAMPLE, y }, { x, y } },
	    2, LINE, style, color_palette(style));
}

/*
 * Draw the names of the series of the first panel from left to right, in lines
 * from ${y} downward.  Return the height.
 */
static double
plot_draw_names(struct page *page, const struct plot *p, double y)
{
	const double right = p->w - PAGE_MARGIN;
	double x = PAGE_MARGIN, h = 0;

	for (int i = 0; p->panels > 0 && i < p->panel->n; i++) {
		const struct plot_series *s = &p->panel->series[i];
		double w;

		if (s->name == NULL)
			continue;
		w = SAMPLE + 6 + page_text_width(page, s->name,
		    TEXT_SIZE, 0);
		/* Begin a new line if the name does not fit. */
		if (h == 0 || x + w > right) {
			x = PAGE_MARGIN;
			h += PAGE_LINE;
		}
		plot_draw_sample(page, x + SAMPLE, y + h - PAGE_LINE / 2.,
		    s->style);
		page_word(page, x + SAMPLE + 6, y + h - PAGE_LINE / 2., s->name,
		    TEXT_LEFT, color_black);
		x += w + NAME_GAP;
	}
	return h;
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
		plot_draw_sample(page, x, y, s->style);
		x -= SAMPLE + 14;
	}
}

/* ---- strips ---- */

/* Return the height of the strips and their label. */
static double
plot_strips_height(const struct plot *p)
{
	return p->strips > 0 ? PAGE_LINE + p->strips * (STRIP + STRIP_GAP) : 0;
}

static void
plot_draw_band(struct page *page, const struct area *a,
    const struct plot_band *b, int style, double y)
{
	double from = plot_place(a, fmax(b->from, a->sx.min), a->sy.min).x;
	double to = plot_place(a, fmin(b->to, a->sx.max), a->sy.min).x;
	struct color color = color_mix(color_paper, color_palette(style),
	    .15 + .4 * b->shade);

	if (!(to > from))
		return;
	/* Leave half a unit of background between bands. */
	page_fill(page, plot_align(from), y, fmax(plot_align(to) -
	    plot_align(from) - .5, .5), STRIP, color);
	if (b->text != NULL && page_text_width(page, b->text, TEXT_SIZE,
	    0) + 6 < to - from)
		page_word(page, (from + to) / 2, y + STRIP / 2., b->text,
		    TEXT_MIDDLE, color_black);
}

/*
 * Draw the strips and their label into ${a}, whose x scale is that of the
 * panels.
 */
static void
plot_draw_strips(struct page *page, const struct plot *p, const struct area *a)
{
	struct text_style bold = { TEXT_SIZE, TEXT_LEFT, .bold = 1,
		.color = color_black };
	double y = a->y + PAGE_LINE;

	if (p->strip_label != NULL)
		page_text(page, a->x, a->y + PAGE_LINE / 2. - 1, p->strip_label,
		    &bold);
	for (int i = 0; i < p->strips; i++) {
		const struct plot_strip *s = &p->strip[i];

		plot_draw_sample(page, a->x - 6, y + STRIP / 2., s->style);
		for (int k = 0; k < s->n; k++)
			plot_draw_band(page, a, &s->band[k], s->style, y);
		y += STRIP + STRIP_GAP;
	}
}
/* ---- panels ---- */

/* Draw the level and the drops from it.  The texts stand one above the other,
 * on paper of their own, since a later drop may cross them. */
static void
plot_draw_level(struct page *page, const struct area *a,
    const struct plot_panel *p)
{
	double level = plot_place(a, a->sx.min, *p->level).y;
	double bottom = a->y + a->h;

	page_fill(page, a->x, plot_align(level), a->w, .5, color_gray);
	for (int i = 0; i < p->drops; i++)
		page_fill(page, plot_align(plot_place(a, p->drop[i].x,
		    *p->level).x), level, 1, bottom - level,
		    color_palette(p->drop[i].style));
	for (int i = 0; i < p->drops; i++) {
		const struct plot_drop *d = &p->drop[i];
		double x = plot_align(plot_place(a, d->x, *p->level).x);
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
	struct text_style bold = { TEXT_SIZE, TEXT_LEFT, .bold = 1,
		.color = color_black };
	struct tick tick[SCALE_TICKS];
	int n;

	a->sy = plot_scale(&p->y, p, 1, 0);
	if (p->y.label != NULL)
		page_text(page, a->x, a->y - PAGE_LINE / 2. - 1, p->y.label,
		    &bold);
	if (legend)
		plot_draw_legend(page, a, p, a->y - PAGE_LINE / 2. - 1);
	n = scale_ticks(&a->sy, (int)a->h / 24 + 1, tick);
	for (int i = 0; i < n; i++) {
		double y = plot_place(a, a->sx.min, tick[i].value).y;

		page_fill(page, a->x, plot_align(y), a->w, .5, color_faint);
		page_word(page, a->x - 6, y, tick[i].text, TEXT_RIGHT,
		    color_gray);
	}
	for (int i = 0; i < plot->rules; i++)
		if (plot_shown(&a->sx, plot->rule[i]))
			page_fill(page, plot_align(plot_place(a,
			    plot->rule[i], a->sy.min).x), a->y, .5, a->h,
			    color_faint);
	page_fill(page, a->x, plot_align(a->y + a->h), a->w, 1, color_rule);
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
		double x = plot_place(a, tick[i].value, a->sy.min).x;

		page_fill(page, plot_align(x), y, 1, 4, color_rule);
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
	double width = p->strips > 0 ? SAMPLE : 0;
	struct tick tick[SCALE_TICKS];

	for (int i = 0; i < p->panels; i++) {
		struct scale s = plot_scale(&p->panel[i].y, &p->panel[i], 1,
		    0);
		int n = scale_ticks(&s, (int)h / 24 + 1, tick);

		for (int k = 0; k < n; k++)
			width = fmax(width, page_text_width(page, tick[k].text,
			    TEXT_SIZE, 0));
	}
	return ceil(width);
}

/* Draw one of the plots that stand side by side into ${whole}. */
static void
plot_draw_one(struct page *page, const struct plot *p, int legend,
    const struct area *whole)
{
	double strips = plot_strips_height(p);
	/* 34 or 18 units are the height of the x axis. */
	double each = floor((whole->h - (p->x.label != NULL ? 34 : 18) -
	    strips) / fmax(p->panels, 1));
	struct area a = { .h = each - PAGE_LINE - 14 };

	a.x = whole->x + plot_left_width(page, p, a.h) + 6;
	a.w = whole->x + whole->w - a.x;
	a.sx = plot_scale(&p->x, p->panel, p->panels, 1);
	for (int i = 0; i < p->panels; i++) {
		a.y = whole->y + i * each + PAGE_LINE;
		plot_draw_panel(page, p, i, legend, &a);
	}
	if (p->strips > 0) {
		a.y = whole->y + p->panels * each - 8;
		plot_draw_strips(page, p, &a);
		a.h = strips;
		page_fill(page, a.x, plot_align(a.y + a.h), a.w, 1,
		    color_rule);
	}
	if (p->panels > 0)
		plot_draw_x_axis(page, p, &a, a.y + a.h);
}

int
plot_draw(const struct plot *p, int n, const char *path)
{
	const double gap = 28;
	struct page *page = page_new();
	double each = (p->w - 2 * PAGE_MARGIN - 4 + gap) / n;
	struct area a = { .x = PAGE_MARGIN, .w = each - gap };

	if (page == NULL)
		return -1;
	if (page_size(page, p->w, p->h, path, p->title) != 0)
		return page_done(page);
	page_head(page, p->w, p->title, p->note);
	a.y = page_head_height(p->title, p->note) + 6;
	if (n > 1)
		a.y += plot_draw_names(page, p, a.y) + 6;
	a.h = p->h - PAGE_MARGIN - a.y;
	for (int i = 0; i < n; i++, a.x += each)
		plot_draw_one(page, &p[i], n == 1, &a);
	return page_done(page);
}
