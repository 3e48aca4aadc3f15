#ifndef EVAL_CURVES_H
#define EVAL_CURVES_H

/*
 * Training curves of runs, a table of points from which a text and a picture
 * are made.  Over time, a curve is a run or the mean of several.  Over the
 * batch, it is the last accuracy of its runs, a mean for each batch.
 */

#include "base/options.h"
#include "eval/history.h"

/* The numbers of a point: means over its runs, their error and their count. */
enum curves_number {
	CURVES_EPOCH,
	CURVES_SECONDS,			/* as in history.h */
	CURVES_STEPS, CURVES_LR,	/* of training; the largest rate */
	CURVES_BATCH,			/* clips of the last cell of the last
					 * stage */
	CURVES_VALUE,			/* accuracies: 0 to 1 */
	CURVES_ERROR,			/* standard error of the mean; NaN for
					 * one run */
	CURVES_RUNS,
	CURVES_NUMBERS
};

/* A series of the table after those of a run: where runs reach the target. */
enum { CURVES_REACHED = HISTORY_SERIES };

struct curves_point {
	size_t line;			/* index of its curve */
	int series;			/* enum history_of, or CURVES_REACHED */
	double v[CURVES_NUMBERS];
};

/* One curve. */
struct curves_line {
	char *name;
	int named;			/* 1: named by the user; never
					 * shortened */
	struct history *run;		/* [runs] */
	size_t runs, cap;
	const struct schedule *schedule;	/* of its first run that has
						 * one, or NULL */
};

enum curves_over { CURVES_OVER_TIME, CURVES_OVER_BATCH };
#define CURVES_OVER "time|batch"	/* their names */

struct curves {
	struct curves_line *line;
	size_t n, cap;
	int over;			/* enum curves_over */
	int accuracy;			/* HISTORY_MAP if every run with a
					 * validation has it, otherwise
					 * HISTORY_TOP1 */
	double target;			/* accuracy to mark over time, 0 to 1;
					 * 0: none */
	struct curves_point *point;	/* sorted by curve and series, those of
					 * CURVES_REACHED last */
	size_t points, point_cap;
};

/*
 * curves_run(files, runs, over, target):
 * Write the curves of ${runs} over ${over} to all ${files}, tables (.tsv) or
 * pictures (draw/plot.h), with the accuracy ${target} marked unless it is 0.
 *
 * Each item of ${runs} is a run or "NAME=RUN,RUN,...".  A run is a run
 * directory, a log file, or a glob pattern, glob(7), for several.  Runs with
 * the same name form one curve.  An item that names an existing file is taken
 * literally.  Over the batch, a run without a schedule or without a validation
 * is refused.
 *
 * Return 0, or an exit status after a message.
 */
int curves_run(const struct option_list *files, const struct option_list *runs,
    int over, double target);

/*
 * curves_take_means(c):
 * Append the means of all curves over c->over to the points of ${c}.  Return 0,
 * or -1 after a message if there is none.
 *
 * Over time, a mean is computed at the epochs of the run with the most points.
 * The other runs are interpolated linearly; beyond their ends, their first or
 * last point serves up to half a step away.  A mean covers only epochs that all
 * its runs have.  Its seconds are the mean of theirs.
 *
 * With a target, a point for each curve has the mean of the epochs and seconds
 * at which its runs reach it.  A run reaches it at the first of two successive
 * validations that are at least the target, or at its last one, as in
 * share/examples/time-to-accuracy.mk.
 */
int curves_take_means(struct curves *c);

/*
 * curves_points(c, line, series, n):
 * Return the points of ${series} of curve ${line}, and their number in ${*n}.
 */
const struct curves_point *curves_points(const struct curves *c, size_t line,
    int series, size_t *n);

/* curves_draw(c, path): Draw the picture.  Return 0, or -1 after a message. */
int curves_draw(const struct curves *c, const char *path);

#endif
