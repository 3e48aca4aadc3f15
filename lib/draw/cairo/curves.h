#ifndef DRAW_CAIRO_CURVES_H
#define DRAW_CAIRO_CURVES_H

/* What the files that draw curves share. */

#include "draw/cairo/page.h"
#include "draw/plot.h"
#include "draw/scale.h"

#define CURVES_LINE 1.75		/* how wide a line is */
#define CURVES_SAMPLE 24.		/* how much of it stands beside a name */

/* A panel on the page. */
struct area { double x, y, w, h; struct scale sx, sy; };

/* curves_place(a, x, y): where it lies; what is far off the scale is just
 * outside. */
struct point curves_place(const struct area *a, double x, double y);

/* curves_crisp(at): hairlines lie on halves of a unit, which are whole
 * pixels. */
double curves_crisp(double at);

/* curves_sample(page, x, y, style): a piece of a line that ends at ${x}. */
void curves_sample(struct page *page, double x, double y, int style);

/*
 * curves_legend(page, p, y): the names of the series of the first panel, from
 * the left, in lines from ${y} on; how high they are.  With a ${y} below 0
 * nothing is drawn.
 */
double curves_legend(struct page *page, const struct plot *p, double y);

/* curves_strips_height(p), curves_strips(page, p, a): the strips and their
 * label fill ${a}, whose scale of x is that of the panels. */
double curves_strips_height(const struct plot *p);
void curves_strips(struct page *page, const struct plot *p,
    const struct area *a);

#endif
