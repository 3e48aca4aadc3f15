/* Draw the parts around curves: the legend above them and the strips below. */
#include <math.h>

#include "draw/cairo/curves.h"

enum { STRIP = 15, STRIP_GAP = 3, NAME_GAP = 18 };

void
curves_sample(struct page *page, double x, double y, int style)
{
	page_path(page, (struct point[]){ { x - CURVES_SAMPLE, y }, { x, y } },
	    2, CURVES_LINE, style, color_palette(style));
}

double
curves_legend(struct page *page, const struct plot *p, double y)
{
	const double right = p->w - PAGE_MARGIN;
	double x = PAGE_MARGIN, h = 0;

	for (int i = 0; p->panels > 0 && i < p->panel->n; i++) {
		const struct plot_series *s = &p->panel->series[i];
		double w;

		if (s->name == NULL)
			continue;
		w = CURVES_SAMPLE + 6 + page_text_width(page, s->name,
		    TEXT_SIZE, 0);
		/* Begin a new line if the name does not fit. */
		if (h == 0 || x + w > right) {
			x = PAGE_MARGIN;
			h += PAGE_LINE;
		}
		if (y >= 0) {
			double at = y + h - PAGE_LINE / 2.;

			curves_sample(page, x + CURVES_SAMPLE, at, s->style);
			page_word(page, x + CURVES_SAMPLE + 6, at, s->name,
			    TEXT_LEFT, color_black);
		}
		x += w + NAME_GAP;
	}
	return h;
}

double
curves_strips_height(const struct plot *p)
{
	return p->strips > 0 ? PAGE_LINE + p->strips * (STRIP + STRIP_GAP) : 0;
}

static void
curves_draw_band(struct page *page, const struct area *a,
    const struct plot_band *b, int style, double y)
{
	double from = curves_place(a, fmax(b->from, a->sx.min), a->sy.min).x;
	double to = curves_place(a, fmin(b->to, a->sx.max), a->sy.min).x;
	struct color color = color_mix(color_paper, color_palette(style),
	    .15 + .4 * b->shade);

	if (!(to > from))
		return;
	/* Leave half a unit of background between bands. */
	page_fill(page, curves_align(from), y, fmax(curves_align(to) -
	    curves_align(from) - .5, .5), STRIP, color);
	if (b->text != NULL && page_text_width(page, b->text, TEXT_SIZE,
	    0) + 6 < to - from)
		page_word(page, (from + to) / 2, y + STRIP / 2., b->text,
		    TEXT_MIDDLE, color_black);
}

void
curves_strips(struct page *page, const struct plot *p, const struct area *a)
{
	struct text_style bold = { TEXT_SIZE, TEXT_LEFT, 1, 0, color_black };
	double y = a->y + PAGE_LINE;

	if (p->strip_label != NULL)
		page_text(page, a->x, a->y + PAGE_LINE / 2. - 1, p->strip_label,
		    &bold);
	for (int i = 0; i < p->strips; i++) {
		const struct plot_strip *s = &p->strip[i];

		curves_sample(page, a->x - 6, y + STRIP / 2., s->style);
		for (int k = 0; k < s->n; k++)
			curves_draw_band(page, a, &s->band[k], s->style, y);
		y += STRIP + STRIP_GAP;
	}
}
