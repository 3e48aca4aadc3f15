#ifndef INGEST_EXTRACT_ALL_H
#define INGEST_EXTRACT_ALL_H

/* Extract all videos of a list to one stream, in list order. */

#include <signal.h>
#include <stdatomic.h>

#include "base/file.h"
#include "ingest/compare.h"
#include "ingest/extract.h"
#include "ingest/extract_budget.h"
#include "ingest/report.h"
#include "ingest/list.h"
#include "shard/stream.h"
#include "shard/tally.h"

/*
 * extract_labels(s):
 * Return the labels of ${s} for a table: the single label, or the set of labels
 * separated by commas, or "none" for an empty set.  The caller frees it.
 */
char *extract_labels(const struct sample *s);

/* One run of vt-extract: its inputs, and the totals that it fills in. */
struct extract_run {
	const struct extract_options *how;
	const struct list *list;	/* numbered, with keys */
	int threads;			/* videos decoded at once */
	int skip;			/* 1: continue after a refused video */
	int verbose;			/* 1: a note per video; 2: with
					 * timings; -1: no messages about
					 * videos */
	struct stream_writer *stream;
	struct commit *report;		/* report file; NULL: no report */
	volatile sig_atomic_t *progress_requested;	/* set by a signal
							 * handler: print the
							 * progress; NULL:
							 * never */
	struct extract_budget budget;	/* of a worker process */
	int workers;			/* 1: decode in worker processes; 0:
					 * only if ${budget} has a limit */
	const atomic_int *ended;	/* set by another thread: end without a
					 * message; NULL: never */
	struct compare *compare;	/* records all results; NULL: none */
	/* finished(of, i, x): called in list order with the result of row ${i},
	 * after it was written; NULL: never */
	void (*finished)(void *of, size_t i, const struct extraction *x);
	void *finished_of;
	struct report_totals sum;	/* result: totals */
	struct tally tally;		/* result: samples stored, by class; the
					 * caller frees it */
};

/*
 * extract_all(r):
 * Extract all videos of r->list to r->stream and r->report.  The output does
 * not depend on the number of threads.
 * Return 0 when all videos are stored, or skipped if r->skip is set.  Return -1
 * after a message if a video is refused without r->skip, or if the stream or
 * report cannot be written.  Return -1 if a signal arrived or r->ended is set.
 */
int extract_all(struct extract_run *r);

/*
 * extract_refusal(row, x, stop):
 * Return the message why the video of ${row} is refused.  It begins with the
 * line of the list.  If the file is missing, it lists the paths that were
 * tried; if ${stop} is set too, it names the option that skips such videos.
 * The caller frees it.
 */
char *extract_refusal(const struct list_row *row, const struct extraction *x,
    int stop);

/*
 * extract_summary(r, classes, to):
 * Append a summary of what extract_all stored to ${to}, without a newline:
 * videos, classes, frames and bytes.
 */
void extract_summary(struct extract_run *r, const struct class_list *classes,
    struct buffer *to);

#endif
