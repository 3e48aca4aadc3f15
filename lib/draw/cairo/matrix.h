#ifndef DRAW_CAIRO_MATRIX_H
#define DRAW_CAIRO_MATRIX_H

/* Internal interface of the two files that draw a confusion matrix. */

#include "draw/cairo/page.h"
#include "draw/plot.h"

enum {
	MATRIX_KEY_TOP = 16,		/* top of the color key, from that of
					 * the cells */
	MATRIX_KEY = 150,		/* height of the color key */
	MATRIX_LIST = 300,		/* width of the list of pairs */
	MATRIX_LEADER = 26		/* distance from a name to the matrix */
};

/* The layout, in page units (page.h). */
struct matrix_layout {
	const struct plot_matrix *m;
	double *sum;			/* [n] sum of each row */
	double sum_max, max;		/* largest sum; value of the darkest
					 * cell */
	double side, number;		/* of a cell; font size of its number,
					 * 0: none */
	double x, y, w;			/* the cells */
	double size, names, turn;	/* of names: font size, width,
					 * rotation */
	double left, below;		/* space next to the cells */
	double key, right, bottom;	/* x of the color key; right and bottom
					 * ends of the drawing */
};

/*
 * matrix_color(part, diagonal):
 * Return the color of a cell with value ${part}, 0 to 1, on or off the
 * diagonal.
 */
struct color matrix_color(double part, int diagonal);

/* matrix_list(p, l): Draw the list of pairs below the key. */
void matrix_list(struct page *p, const struct matrix_layout *l);

/* matrix_list_bottom(l): Return the y of the list's lower end. */
double matrix_list_bottom(const struct matrix_layout *l);

/*
 * matrix_leaders(p, l):
 * Draw the names of the pairs at the sides, with leader lines to their rows and
 * columns.
 */
void matrix_leaders(struct page *p, const struct matrix_layout *l);

#endif
