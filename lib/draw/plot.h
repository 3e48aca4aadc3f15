#ifndef DRAW_PLOT_H
#define DRAW_PLOT_H

/*
 * Pictures of numbers: curves, a confusion matrix and a contact sheet.  The
 * extension of the file says what it becomes: .png, .svg or .pdf; "-" is a PNG
 * on standard output.  Everything can be told apart without colour: lines by
 * their dashes, cells by their darkness, frames by their marks.  The same
 * input gives the same bytes with the same fonts and the same cairo.
 *
 * An optional part: without cairo the folder "without" has these functions,
 * which say so.  Functions return 0, or -1 after a message.
 */

#include <stdio.h>

#include "media/image.h"

/*
 * plot_ready(path): 0 if a picture can be drawn into ${path}, going by its
 * extension and by what was built in; for work of hours whose result is drawn.
 */
int plot_ready(const char *path);
void plot_versions(FILE *f);

/* ---- curves ---- */

struct plot_axis {
	const char *label;	/* with its unit: "epoch", "crop, pixels" */
	double min, max;	/* equal: as the data say */
	int log;		/* 0: linear; 2 or 10: logarithmic */
};

struct plot_series {
	const char *name;	/* for the legend; NULL: not in it */
	int n;
	const double *x, *y;	/* [n]; a NaN in y leaves a gap, and so does
				 * what a logarithm cannot show */
	int style;		/* number of its colour and dashes */
	const double *low, *high;	/* [n] what is shaded around it; NULL:
					 * nothing */
	int marks;		/* a dot at each point, too */
};

/* A vertical line from the level of its panel down to the axis, with a text. */
struct plot_drop {
	double x;
	int style;		/* style of its series */
	const char *text;
};

struct plot_panel {
	struct plot_axis y;	/* its label stands above the panel */
	const struct plot_series *series;
	int n;
	const double *level;	/* a horizontal line at this y; NULL: none */
	const struct plot_drop *drop;	/* [drops], from ${level} */
	int drops;
};

/* Stretches of x with a text each, where there is room for it. */
struct plot_band {
	double from, to;
	double shade;		/* 0: the palest, to 1 */
	const char *text;
};

struct plot_strip {
	int style;		/* as that of the series it belongs to */
	const struct plot_band *band;
	int n;
};

/* Panels above one another over the same x, and strips below them. */
struct plot {
	const char *title, *note;	/* above all of it; NULL: none */
	int w, h;			/* in units of 1/96 inch; a PNG has two
					 * pixels a unit; at least 300 x 200 */
	struct plot_axis x;
	const double *rule;		/* hairlines at these x, */
	int rules;			/* this many */
	const struct plot_panel *panel;
	int panels;
	const char *strip_label;	/* stands above the strips */
	const struct plot_strip *strip;
	int strips;
};

int plot_draw(const struct plot *p, const char *path);

/*
 * plot_beside(p, n, path): ${n} of them side by side in one picture, with the
 * title, the note, the width and the height of ${p}[0].  The names of its first
 * panel's series stand above it all, in as many lines as they take.
 */
int plot_beside(const struct plot *p, int n, const char *path);

/* ---- a confusion matrix ---- */

/* Cells that a list beside the matrix names. */
struct plot_pair { int row, column; };

/*
 * ${n} x ${n} cells, the number in each if there is room, names at the sides as
 * far as they fit.  The diagonal has a colour of its own.  Where cells are too
 * small for numbers, ${pair} is listed beside the matrix, with the counts, and
 * where names do not fit, theirs are the ones that are shown.
 */
struct plot_matrix {
	const char *title, *note;
	const char *row_label, *column_label;	/* what the sides are */
	const char *pair_label;			/* heading of the list */
	int n;					/* up to PLOT_CLASSES */
	const char *const *name;		/* [n] of rows and columns */
	const double *count;			/* [n][n], at least 0 */
	int percent;				/* show parts of a row's sum */
	const struct plot_pair *pair;		/* [pairs], at most PLOT_PAIRS */
	int pairs;
};

enum { PLOT_CLASSES = 2000, PLOT_PAIRS = 20 };

int plot_matrix(const struct plot_matrix *m, const char *path);

/* ---- a contact sheet ---- */

enum plot_mark { PLOT_UNMARKED, PLOT_RIGHT, PLOT_WRONG };

/* Frames of one clip, with lines below them. */
struct plot_clip {
	const struct image *m;
	enum plot_mark mark;
	const char *caption, *score;	/* a line: left and right; NULL: none */
	const char *note, *path;	/* one line each; NULL if absent */
};

struct plot_sheet {
	const char *title, *note;
	const struct plot_clip *clip;
	int n, columns;			/* clips, and how many in a row; a pixel
					 * of theirs is one of a PNG's */
};

int plot_sheet(const struct plot_sheet *s, const char *path);

#endif
