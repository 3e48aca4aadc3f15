#ifndef INGEST_EXTRACT_CHILD_H
#define INGEST_EXTRACT_CHILD_H

/* Internal interface of extract_budget.c and extract_child.c. */

#include "ingest/extract_budget.h"

/* Exit status of a child whose memory is exhausted. */
#define EXTRACT_CHILD_NO_MEMORY 71
/* Exit status of a child that could not return its frames. */
#define EXTRACT_CHILD_NOT_SENT 72

/*
 * Results pass through shared memory, EXTRACT_CHUNK bytes for each thread.  The
 * child fills it and writes the number of bytes, a size_t, to the socket; if
 * more follows, it waits until the parent has answered with one byte.  On a
 * socket alone, frames that take 3.6 s to extract took another 8 %.
 */
#define EXTRACT_CHUNK ((size_t)1 << 20)

/* The inputs of a child. */
struct extract_child {
	const struct list *l;
	struct extract_options how;
	struct extract_budget budget;
	int flow_threads;		/* of a child */
	size_t spool;			/* bytes of frames in its memory */
	char *shared;			/* [threads][EXTRACT_CHUNK] */
};

/* A request on the socket. */
struct extract_request { size_t row; int thread; };

/*
 * The head of a result.  The arrays, the sizes of the items and
 * the items follow.  The child has the memory of its parent, so pointers to
 * constants are valid in both; all others are replaced by the receiver.
 */
struct extract_result {
	struct extraction x;
	int status;			/* index in extract_statuses */
	size_t times, places, items;	/* elements of time, frame_item;
					 * frames */
};

/* The values of sample.status. */
#define EXTRACT_STATUSES 4
extern const char *const extract_statuses[EXTRACT_STATUSES];

/*
 * extract_child_run(fd, arg):
 * Read requests from ${fd}, extract their rows as ${arg}, a struct
 * extract_child, says, and pass the results, until ${fd} is closed.
 */
void extract_child_run(int fd, void *arg);

#endif
