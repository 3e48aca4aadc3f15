#ifndef MEDIA_PLOT_H
#define MEDIA_PLOT_H

/*
 * Pictures of numbers: curves, a matrix as a heat map, and a sheet of
 * thumbnails.  Each function returns a new RGB picture, the caller's to free.
 * Everything can be told apart without colour: lines by their dashes, cells by
 * their numbers and greys, thumbnails by their marks.
 */

#include "media/image.h"

struct plot_axis {
	const char *label;	/* with its unit: "epoch", "crop, pixels" */
	double min, max;	/* equal: as the data say */
	int log;		/* 0: linear; 2 or 10: logarithmic */
};

enum plot_kind {
	PLOT_LINE,		/* from point to point */
	PLOT_STEPS,		/* y[i] holds from x[i] to x[i + 1] */
	PLOT_MARKS		/* points */
};

struct plot_series {
	const char *name;	/* for the legend; NULL: not in it */
	int n;
	const double *x, *y;	/* [n]; a NaN in y leaves a gap, and so does
				 * what a logarithm cannot show */
	enum plot_kind kind;
	int style;		/* number of its colour, dashes and mark */
};

struct plot_panel {
	struct plot_axis y;	/* its label stands above the panel */
	const struct plot_series *series;
	int n;
};

/* Panels above one another over the same x. */
struct plot {
	const char *title, *note;	/* above all of it; NULL: none */
	int w, h;			/* of the picture; at least 400 x 300 */
	struct plot_axis x;
	const double *rule;		/* hairlines at these x, */
	int rules;			/* this many */
	const struct plot_panel *panel;
	int panels;
};

struct image *plot_draw(const struct plot *p);

/*
 * A matrix as squares of ${rows} x ${columns}, the number in each if there is
 * room, names at its sides.  The darkest is the greatest value.
 */
struct plot_heat {
	const char *title, *note;
	const char *row_label, *column_label;	/* what the sides are */
	const char *const *row, *const *column;	/* [rows], [columns] */
	int rows, columns;
	const double *value;		/* [rows][columns], at least 0 */
	double max;			/* black; 0: the greatest value */
	int digits;			/* after the point */
	const char *unit;		/* of the values, for the key */
};

struct image *plot_heat(const struct plot_heat *h);

/* One picture of a sheet, with two lines below it. */
struct plot_thumb {
	const struct image *m;
	const char *caption, *note;	/* NULL: none */
	int mark;			/* 0 none, 1 right, 2 wrong */
};

struct plot_sheet {
	const char *title, *note;
	const struct plot_thumb *thumb;
	int n, columns;			/* pictures, and how many in a row */
	int zoom;			/* of their pixels */
};

struct image *plot_sheet(const struct plot_sheet *s);

#endif
