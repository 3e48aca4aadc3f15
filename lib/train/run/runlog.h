#ifndef TRAIN_RUN_RUNLOG_H
#define TRAIN_RUN_RUNLOG_H

/*
 * log.jsonl of a run: one JSON object a line.  Each start of the command adds a
 * "start" line first, and an "end" line with its exit status last.  A killed
 * start has no "end" line.
 */

#include <pthread.h>
#include <stdint.h>

#include "base/append.h"
#include "base/json.h"

struct runlog {
	struct append file;
	int ended;			/* the "end" line was written */
	pthread_mutex_t lock;		/* of ${file} */
};

/*
 * runlog_open(l, dir, step):
 * Open the log in ${dir}, keeping only lines of steps up to ${step}.  With
 * ${step} = 0, begin an empty log.  Return 0, or -1 after a message.
 */
int runlog_open(struct runlog *l, const char *dir, uint64_t step);

/*
 * runlog_event(l, type, step, m, n):
 * Append a line with the members ${m}[n], "type", "step" and "time".  A write
 * error is a warning, and the line is written later (base/append.h).  Any
 * thread may call it.
 */
void runlog_event(struct runlog *l, const char *type, uint64_t step,
    const struct json_member *m, size_t n);

/*
 * runlog_end(l, status, step):
 * Append the "end" line.  Later calls, and calls before runlog_open, do
 * nothing.  A handler of exit(3) may call it.
 */
void runlog_end(struct runlog *l, int status, uint64_t step);

/* runlog_close(l): close the log.  Return 0, or -1 after a message if lines
 * could not be written.  Do nothing if it is not open. */
int runlog_close(struct runlog *l);

/*
 * runlog_last(dir, status):
 * Return how the last start in ${dir} ended:
 *
 *	RUNLOG_ENDED	with the exit status ${*status}
 *	RUNLOG_OPEN	it is running, or was killed
 *	RUNLOG_NONE	no log
 */
enum runlog_last { RUNLOG_NONE, RUNLOG_OPEN, RUNLOG_ENDED };

enum runlog_last runlog_last(const char *dir, int *status);

#endif
