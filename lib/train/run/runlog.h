#ifndef TRAIN_RUN_RUNLOG_H
#define TRAIN_RUN_RUNLOG_H

/*
 * log.jsonl of a run: one JSON object a line.  A "start" line opens what one
 * start of the command did, an "end" line closes it with its exit status; a
 * start that was killed has no end.
 */

#include <pthread.h>
#include <stdint.h>

#include "base/append.h"
#include "base/json.h"

struct runlog {
	struct append file;
	int ended;			/* there is an "end" line */
	pthread_mutex_t lock;
};

/*
 * runlog_open(l, dir, step): the log in ${dir}, cut back to lines of steps up
 * to ${step}; 0 begins it anew.  -1 after a message.
 */
int runlog_open(struct runlog *l, const char *dir, uint64_t step);

/*
 * runlog_line(l, w): append what ${w} holds as a line (base/append.h), and free
 * it.
 */
void runlog_line(struct runlog *l, struct json_writer *w);

/* runlog_sync(l): make the lines durable, as far as they are written. */
void runlog_sync(struct runlog *l);

/*
 * runlog_end(l, status, step): the "end" line, once; later calls, and those
 * before runlog_open, do nothing.  May be called from a handler of exit(3).
 */
void runlog_end(struct runlog *l, int status, uint64_t step);

/* runlog_close(l): -1 after a message if lines could not be written. */
int runlog_close(struct runlog *l);

/*
 * runlog_last(dir, status):
 * How the last start in ${dir} ended: RUNLOG_ENDED with its exit status,
 * RUNLOG_OPEN (it runs, or was killed), or RUNLOG_NONE (no log, or one of
 * version 0.1.0 that does not say).
 */
enum runlog_last { RUNLOG_NONE, RUNLOG_OPEN, RUNLOG_ENDED };

enum runlog_last runlog_last(const char *dir, int *status);

/* runlog_memory(): the most bytes that this process held, "peak_memory". */
int64_t runlog_memory(void);

#endif
