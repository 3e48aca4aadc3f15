#ifndef EVAL_HISTORY_H
#define EVAL_HISTORY_H

/*
 * The training history in the log of a run: values over epochs and over seconds
 * of training.
 */

#include <stddef.h>
#include <stdint.h>

#include "sched/schedule.h"

enum history_of {
	HISTORY_LOSS,		/* training loss, mean over the steps of a
				 * line */
	HISTORY_TOP1,		/* validation accuracy, 0 to 1 */
	HISTORY_MAP,		/* validation mAP, if samples have sets of
				 * classes */
	HISTORY_VAL_LOSS,	/* validation loss */
	HISTORY_SERIES
};

struct history_point {
	uint64_t step;
	double epoch;
	double seconds;		/* seconds of training so far, without
				 * validation; NaN: unknown */
	double value;		/* NaN: not finite */
	double clips;		/* of a loss: trained so far */
};

struct history_series { struct history_point *at; size_t n, cap; };

struct history {
	char *log;			/* path of the log, for messages */
	struct history_series series[HISTORY_SERIES];	/* sorted by step */
	struct schedule *schedule;	/* NULL: no schedule next to the log */
};

/*
 * history_read(h, run):
 * Read log.jsonl and schedule.tsv of the run directory ${run}.  If ${run} is a
 * file, read it as the log, and the schedule in its directory.
 *
 * Steps repeated after a kill count once, with their last values.  Seconds are
 * sums over the lines.  Steps whose line was lost in a kill are charged at the
 * rate of the next line.  A last line without a newline is still being written
 * and is ignored.
 *
 * Return 0; -1 after a message if the log cannot be read; -2 after a message
 * with file and line if the log or the schedule is invalid.  Call history_free
 * in all cases.
 */
int history_read(struct history *h, const char *run);

/* history_free(h): Free the history and leave it empty. */
void history_free(struct history *h);

#endif
