#ifndef EVAL_CURVES_H
#define EVAL_CURVES_H

/*
 * Training curves of runs: training loss and validation accuracy, over seconds
 * of training and over epochs.  A curve shows one run, or the mean of several.
 */

#include "base/options.h"
#include "eval/history.h"

struct curves_point {
	double epoch, seconds;		/* seconds as in history.h */
	double value;			/* mean over the runs */
	double error;			/* standard error of the mean; NaN for
					 * one run */
};

/* One curve. */
struct curves_line {
	char *name;
	int named;			/* 1: named by the user; never
					 * shortened */
	struct history *run;		/* [runs] */
	size_t runs, cap;
	struct { struct curves_point *at; size_t n; } series[HISTORY_SERIES];
};

struct curves {
	struct curves_line *line;
	size_t n, cap;
	double target;		/* accuracy to mark, 0 to 1; 0: none */
};

/*
 * curves_read(c, models):
 * Read the runs that ${models} lists.  Each item is a run or
 * "NAME=RUN,RUN,...".  A run is a run directory, a log file, or a glob pattern,
 * glob(7), for several.  Runs with the same name form one curve.  An item that
 * names an existing file is taken literally.
 *
 * A mean is computed at the epochs of the run with the most points.  The other
 * runs are interpolated linearly; beyond their ends, their first or last point
 * serves up to half a step away.  A mean covers only epochs that all its runs
 * have.  Its seconds are the mean of theirs.
 *
 * Return 0, or an exit status after a message.  Call curves_free in both cases.
 */
int curves_read(struct curves *c, const struct option_list *models);

/* curves_free(c): Free all curves and leave ${c} empty. */
void curves_free(struct curves *c);

/*
 * curves_ready(path):
 * Check that curves can be written to ${path}: a table if its name ends in
 * .tsv, otherwise a picture (draw/plot.h).  Return 0, or -1 after a message.
 */
int curves_ready(const char *path);

/*
 * curves_write(c, path):
 * Write the curves to ${path} as a table or a picture, and commit the file.
 * Return 0, or -1 after a message.
 */
int curves_write(const struct curves *c, const char *path);

/*
 * curves_accuracy(c): return the series that is the accuracy of the curves:
 * HISTORY_MAP if every curve with a validation has it, else HISTORY_TOP1.
 */
int curves_accuracy(const struct curves *c);

/*
 * curves_reach(l, of, target):
 * Return how many runs of ${l} reach the accuracy ${target}, and the mean of
 * the epochs and seconds at which they do.  A run reaches it at the first of
 * two successive validations that are at least ${target}, or at its last one:
 * so share/examples/time-to-accuracy.mk counts, too.
 */
struct curves_reach { size_t runs; double epoch, seconds; };
struct curves_reach curves_reach(const struct curves_line *l, int of,
    double target);

/*
 * curves_schedule(l):
 * Return the schedule of the first run of ${l} that has one, or NULL.  It
 * belongs to ${l}.
 */
const struct schedule *curves_schedule(const struct curves_line *l);

/*
 * curves_draw(c, path):
 * Draw the curves as a picture.  Return 0, or -1 after a message.
 */
int curves_draw(const struct curves *c, const char *path);

#endif
