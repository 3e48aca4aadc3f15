#ifndef DRAW_PLOT_H
#define DRAW_PLOT_H

/*
 * Pictures of numbers: curves, a confusion matrix and a contact sheet.  The
 * extension of the file selects the format: .png, .svg or .pdf; "-" is a PNG on
 * standard output.  Nothing is distinguished by color alone: lines differ by
 * dashes, cells by darkness, frames by marks.  A command that draws the same
 * pictures, with the same fonts and cairo version, writes the same bytes.
 *
 * Drawing is an optional part.  In a build without cairo, the functions in the
 * folder "without" report that.  Functions return 0, or -1 after a message.
 */

#include <stdio.h>

#include "media/image.h"

/* The beginnings of PNG, SVG and PDF of cairo (base/options.h). */
#define PLOT_BEGINS "\211PNG\r\n\032\n|" \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg |" \
	"%PDF-1.?\n%\265\355\256\373"

/*
 * plot_ready(path):
 * Check that pictures can be written to ${path}: the extension is known, a font
 * is installed and drawing is built in.  Call it before hours of work whose
 * result will be drawn.
 */
int plot_ready(const char *path);

/*
 * plot_versions(f):
 * Print the version of cairo to ${f}; nothing without cairo.
 */
void plot_versions(FILE *f);

/* ---- curves ---- */

struct plot_axis {
	const char *label;	/* with its unit: "epoch", "crop, pixels" */
	double min, max;	/* equal: fit to the data */
	int log;		/* 0: linear; 2 or 10: logarithmic */
};

struct plot_series {
	const char *name;	/* in the legend; NULL: not in it */
	int n;
	const double *x, *y;	/* [n]; a NaN in y makes a gap, as does a value
				 * that a logarithmic axis cannot show */
	int style;		/* number of its color and dash pattern */
	const double *low, *high;	/* [n] bounds of the shaded band; NULL:
					 * none */
	int marks;		/* 1: a dot at each point */
};

/* A vertical line from the level of its panel down to the axis, with a text. */
struct plot_drop {
	double x;
	int style;		/* style of its series */
	const char *text;
};

struct plot_panel {
	struct plot_axis y;	/* its label is above the panel */
	const struct plot_series *series;
	int n;
	const double *level;	/* a horizontal line at this y; NULL: none */
	const struct plot_drop *drop;	/* [drops], from ${level} */
	int drops;
};

/* An interval of x with a text, drawn if there is space for it. */
struct plot_band {
	double from, to;
	double shade;		/* 0: lightest, 1: darkest */
	const char *text;
};

struct plot_strip {
	int style;		/* that of the series it belongs to */
	const struct plot_band *band;
	int n;
};

/* Panels above one another over the same x axis, and strips below them. */
struct plot {
	const char *title, *note;	/* above everything; NULL: none */
	int w, h;			/* in units of 1/96 inch; a PNG has two
					 * pixels per unit; at least 300 x
					 * 200 */
	struct plot_axis x;
	const double *rule;		/* [rules] hairlines at these x */
	int rules;
	const struct plot_panel *panel;
	int panels;
	const char *strip_label;	/* above the strips */
	const struct plot_strip *strip;
	int strips;
};

/*
 * plot_draw(p, n, path):
 * Draw ${n} plots side by side in one picture, with the title, note, width and
 * height of p[0].  The legend of one plot is inside the label line of each
 * panel.  That of several, the names of the series in the first panel of p[0],
 * is above all of them.
 */
int plot_draw(const struct plot *p, int n, const char *path);

/* ---- a confusion matrix ---- */

/* A cell that the list next to the matrix names. */
struct plot_pair { int row, column; };

/*
 * A matrix of ${n} x ${n} cells.  Each cell shows its number and each side its
 * names, if there is space.  The diagonal has a color of its own.  If cells
 * are too small for numbers, ${pair} is listed next to the matrix with the
 * counts.  If there is no space for all names, only those of ${pair} are shown.
 */
struct plot_matrix {
	const char *title, *note;
	const char *row_label, *column_label;	/* what the sides mean */
	const char *pair_label;			/* heading of the list */
	int n;					/* 1 to PLOT_CLASSES */
	const char *const *name;		/* [n] names of rows and
						 * columns */
	const double *count;			/* [n][n], at least 0 */
	int percent;				/* 1: show percent of the row
						 * sum */
	const struct plot_pair *pair;		/* [pairs], at most
						 * PLOT_PAIRS */
	int pairs;
};

enum { PLOT_CLASSES = 2000, PLOT_PAIRS = 20 };

/* plot_matrix(m, path): Draw a confusion matrix. */
int plot_matrix(const struct plot_matrix *m, const char *path);

/* ---- a contact sheet ---- */

enum plot_mark { PLOT_UNMARKED, PLOT_RIGHT, PLOT_WRONG };

/* The frames of one clip, with captions below them. */
struct plot_clip {
	const struct image *m;
	enum plot_mark mark;
	const char *caption, *score;	/* first line: left and right; NULL:
					 * none */
	const char *note, *path;	/* one line each; NULL: none */
};

struct plot_sheet {
	const char *title, *note;
	const struct plot_clip *clip;
	int n, columns;			/* clips; clips per row; a pixel of an
					 * image is a pixel of a PNG */
};

/* plot_sheet(s, path): Draw a contact sheet. */
int plot_sheet(const struct plot_sheet *s, const char *path);

#endif
