#ifndef EVAL_CURVES_H
#define EVAL_CURVES_H

/*
 * Training curves of runs: training loss and validation accuracy, over seconds
 * of training and over epochs.  A curve shows one run, or the mean of several.
 * Over the batch, a curve shows the last accuracy of runs, a mean for each
 * batch.
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
	/* means, over time only */
	struct { struct curves_point *at; size_t n; } series[HISTORY_SERIES];
};

enum curves_over { CURVES_TIME, CURVES_BATCH };
#define CURVES_OVER "time|batch"	/* their names */

struct curves {
	struct curves_line *line;
	size_t n, cap;
	int over;		/* enum curves_over */
	double target;		/* accuracy to mark over time, 0 to 1; 0:
				 * none */
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
 * Over the batch, a run without a schedule or without a validation is refused.
 *
 * Return 0, or an exit status after a message.  Call curves_free in both cases.
 */
int curves_read(struct curves *c, const struct option_list *models);

/* curves_free(c): Free all curves and leave ${c} empty. */
void curves_free(struct curves *c);

/*
 * curves_run(files, runs, over, target):
 * Draw the curves of ${runs} (curves_read) over ${over} to all ${files}, with
 * the accuracy ${target} marked unless it is 0.  Return 0, or an exit status
 * after a message.
 */
int curves_run(const struct option_list *files, const struct option_list *runs,
    int over, double target);

/*
 * curves_accuracy(c): return the series that is the accuracy of the curves:
 * HISTORY_MAP if every run with a validation has it, else HISTORY_TOP1.
 */
int curves_accuracy(const struct curves *c);

/*
 * curves_reach(l, of, target):
 * Return how many runs of ${l} reach the accuracy ${target}, and the mean of
 * the epochs and seconds at which they do.  A run reaches it at the first of
 * two successive validations that are at least ${target}, or at its last one,
 * as in share/examples/time-to-accuracy.mk.
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
 * Draw the curves over time as a picture.  Return 0, or -1 after a message.
 */
int curves_draw(const struct curves *c, const char *path);

/*
 * The runs of a curve whose last stages have the same batch.  All numbers are
 * means over these runs.
 */
struct curves_batch {
	int batch;		/* clips of the last cell of the last stage */
	size_t runs;
	double lr;		/* largest learning rate of the schedule */
	double steps, seconds;	/* of training; seconds as in history.h */
	double value;		/* accuracy of the last validation, 0 to 1 */
	double error;		/* standard error of ${value}; NaN for one
				 * run */
};

/*
 * curves_batches(l, of, n):
 * Return the batches of the runs of ${l}, in ascending order, and their number
 * in ${*n}.  ${of} is the series of the accuracy.  Every run needs a schedule
 * and a validation.  The caller frees them.
 */
struct curves_batch *curves_batches(const struct curves_line *l, int of,
    size_t *n);

/*
 * curves_draw_batches(c, path):
 * Draw the accuracies over the batch as a picture.  Return 0, or -1 after a
 * message.
 */
int curves_draw_batches(const struct curves *c, const char *path);

#endif
