#ifndef INGEST_EXTRACT_WORKER_H
#define INGEST_EXTRACT_WORKER_H

#include <sys/types.h>

#include "ingest/extract_budget.h"

/*
 * A worker: the program itself, started as "PROGRAM EXTRACT_WORKER SETTINGS".
 * It reads rows from standard input and writes their samples to standard
 * output, in the form of a stream (shard/stream.h).  The labels of a sample
 * stay with the reader.  STREAM_RESULT follows with what a report says of the
 * row; a refused row has only that.
 */

/* The first argument of a program that is a worker. */
#define EXTRACT_WORKER "--extract-worker"

/* The settings of a worker.  The pointers in ${how} do not reach it. */
struct extract_worker {
	struct extract_options how;
	struct extract_budget budget;
	int flow_threads;
	int64_t spool;			/* bytes of frames in its memory */
	int parent;			/* process id of the reader */
};

/*
 * extract_worker_settings(w):
 * Return ${w} as the argument SETTINGS.  The caller frees it.
 */
char *extract_worker_settings(const struct extract_worker *w);

/*
 * extract_worker_row(b, row):
 * Append ${row}, as a worker reads it, to ${b}.
 */
void extract_worker_row(struct buffer *b, const struct list_row *row);

/*
 * extract_worker_result(text, n, x):
 * Set the members of ${x} that the STREAM_RESULT ${text} of ${n} bytes has.
 * Return 0, or -1 without a message if ${text} is not one.
 */
int extract_worker_result(const char *text, size_t n, struct extraction *x);

/*
 * extract_worker_memory(pid, space):
 * Return the resident bytes of process ${pid}, and set ${*space} to those of
 * its address space; 0 if they are not known.
 */
int64_t extract_worker_memory(pid_t pid, int64_t *space);

/*
 * extract_worker_run(settings):
 * Be a worker until standard input ends.  A program calls it first, if its
 * only arguments are EXTRACT_WORKER and ${settings}.  The exit status is
 * EXIT_FAILED if memory is exhausted.
 */
_Noreturn void extract_worker_run(const char *settings);

#endif
