#ifndef DRAW_CAIRO_CURVES_H
#define DRAW_CAIRO_CURVES_H

/*
 * Internal interface of the files that draw curves.  Lengths are in page units
 * (page.h).
 */

#include "draw/cairo/page.h"
#include "draw/plot.h"
#include "draw/scale.h"

#define CURVES_LINE 1.75		/* line width */
#define CURVES_SAMPLE 24.		/* length of the line sample next to a
					 * name */

/* A panel on the page: its rectangle and its scales. */
struct area { double x, y, w, h; struct scale sx, sy; };

/*
 * curves_place(a, x, y):
 * Return the position of a point on the page.  A point far outside the panel is
 * moved to one panel size outside it.
 */
struct point curves_place(const struct area *a, double x, double y);

/*
 * curves_align(at):
 * Round ${at} down to a half unit, a whole pixel of a PNG, so that hairlines
 * are pixel-aligned.
 */
double curves_align(double at);

/*
 * curves_sample(page, x, y, style):
 * Draw a sample of a line with ${style} that ends at ${x}.
 */
void curves_sample(struct page *page, double x, double y, int style);

/*
 * curves_legend(page, p, y):
 * Draw the names of the series of the first panel from left to right, in lines
 * from ${y} downward.  If ${y} is negative, draw nothing.  Return the height.
 */
double curves_legend(struct page *page, const struct plot *p, double y);

/* curves_strips_height(p): Return the height of the strips and their label. */
double curves_strips_height(const struct plot *p);

/*
 * curves_strips(page, p, a):
 * Draw the strips and their label into ${a}, whose x scale is that of the
 * panels.
 */
void curves_strips(struct page *page, const struct plot *p,
    const struct area *a);

#endif
