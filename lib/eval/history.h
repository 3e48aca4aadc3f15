#ifndef EVAL_HISTORY_H
#define EVAL_HISTORY_H

/* What the log of a run tells of its training: values over epochs and over the
 * seconds that it trained. */

#include <stddef.h>
#include <stdint.h>

#include "sched/schedule.h"

enum history_of {
	HISTORY_LOSS,		/* of training, over the steps of a line */
	HISTORY_TOP1,		/* of a validation, 0 to 1 */
	HISTORY_MAP,		/* the same, where samples have sets of classes */
	HISTORY_SERIES
};

struct history_point {
	uint64_t step;
	double epoch;
	double seconds;		/* of training until there, without validation;
				 * NaN: not known */
	double value;		/* NaN: it was not finite */
};

struct history_series { struct history_point *at; size_t n, cap; };

struct history {
	char *log;			/* the file, for messages */
	struct history_series series[HISTORY_SERIES];	/* in order of steps */
	struct schedule *schedule;	/* NULL: none beside the log */
};

/*
 * history_read(h, run):
 * Read log.jsonl and schedule.tsv of the folder ${run}, or ${run} itself as a
 * log and the schedule beside it.  Steps that were done again after a kill
 * count once, as they were done last.  Seconds are sums over the lines: those
 * of steps whose line a kill took are what the next line's clips took each, and
 * a validation between two lines lies between their seconds.  A last line
 * without an end is one that is being written, and is left out.  0; after a
 * message -1 if the log cannot be read, -2 if something in it, or in the
 * schedule, is wrong, with file and line.  history_free in any case.
 */
int history_read(struct history *h, const char *run);
void history_free(struct history *h);		/* leaves an empty one */

#endif
