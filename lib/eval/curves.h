#ifndef EVAL_CURVES_H
#define EVAL_CURVES_H

/*
 * How runs trained, as curves: the loss of training and the accuracy of
 * validation, over the seconds of training and over epochs.  A curve is of one
 * run, or the mean of several.
 */

#include "base/options.h"
#include "eval/history.h"

struct curves_point {
	double epoch, seconds;		/* seconds: as in history.h */
	double value;			/* mean over the runs */
	double error;			/* its standard error; NaN of one run */
};

struct curves_line {
	char *name;
	int named;			/* by the user, and so it stays */
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
 * Each of ${models} is a run or "NAME=RUN,RUN,...", where a run is a folder or
 * a log, or a pattern, glob(7), that stands for several; those of the same name
 * are one curve.  A name of a file that is there is taken as it is.
 *
 * A mean has the epochs of that of its runs that has the most points; of the
 * others it takes what lies on the straight line between two of their points,
 * or the first or last point where that is no further away than half a step
 * from point to point.  It begins and ends where all of them do.  Over seconds
 * a point stands at the mean of theirs.  0, or an exit status after a message;
 * curves_free in any case.
 */
int curves_read(struct curves *c, const struct option_list *models);
void curves_free(struct curves *c);		/* leaves none */

/*
 * curves_ready(path): 0 if curves can become that file: a table if its name
 * ends with .tsv, else a picture (draw/plot.h); -1 after a message.
 * curves_write(c, path): commit it; 0, or -1 after a message.
 */
int curves_ready(const char *path);
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

/* curves_schedule(l): the first there is of its runs; NULL: none. */
const struct schedule *curves_schedule(const struct curves_line *l);

/* curves_draw(c, path): as a picture. */
int curves_draw(const struct curves *c, const char *path);

#endif
