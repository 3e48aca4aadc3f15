#ifndef DRAW_CAIRO_MATRIX_H
#define DRAW_CAIRO_MATRIX_H

/* What the two files of the confusion matrix share. */

#include "draw/cairo/page.h"
#include "draw/plot.h"

enum {
	MATRIX_KEY_TOP = 16,		/* the key of colours: from the top of */
	MATRIX_KEY = 150,		/* the cells, and its height */
	MATRIX_LIST = 300,		/* width of the list of pairs */
	MATRIX_LEADER = 26		/* from a name to a cell far from it */
};

/* Where things are, in units of the page. */
struct layout {
	const struct plot_matrix *m;
	double *sum;			/* [n] of each row */
	double most, max;		/* of the sums; value of the darkest */
	double side, number;		/* of a cell; size of its number, 0 none */
	double x, y, w;			/* the cells */
	double size, names, turn;	/* of names: letters, room, slant */
	double left, below;		/* room beside the cells */
	double key, right, bottom;	/* x of the key; ends of it all */
};

/* matrix_ink(part, diagonal): the colour of a cell, ${part} from 0 to 1. */
struct ink matrix_ink(double part, int diagonal);

/* matrix_list(p, l): the pairs, below the key; where that ends. */
void matrix_list(struct page *p, const struct layout *l);
double matrix_list_bottom(const struct layout *l);

/* matrix_leaders(p, l): the names of the pairs at the sides, with lines to
 * their rows and columns. */
void matrix_leaders(struct page *p, const struct layout *l);

#endif
