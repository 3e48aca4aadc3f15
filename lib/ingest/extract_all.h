#ifndef INGEST_EXTRACT_ALL_H
#define INGEST_EXTRACT_ALL_H

/* All videos of a list to one stream, in the order of the list. */

#include <signal.h>

#include "base/file.h"
#include "ingest/extract.h"
#include "ingest/ledger.h"
#include "ingest/list.h"
#include "shard/stream.h"
#include "shard/tally.h"

/*
 * extract_keys(l, root):
 * Fill in the source of each row's sample, the path of its video below ${root},
 * and the key that is made from it.  If ${root} is NULL, it is the current
 * directory, and a video that is not below it has its bare name.  -1 after a
 * message if a path is not below ${root}, or naming both paths if two have one
 * key: they would become one sample.
 */
int extract_keys(struct list *l, const char *root);

/*
 * extract_labels(s):
 * Return what a table shows: the label, or the set of labels with commas between
 * them, "none" if it is empty.  The caller frees it.
 */
char *extract_labels(const struct sample *s);

struct extract_run {
	const struct extract_options *how;
	const struct list *list;	/* numbered, with keys */
	int threads;			/* videos decoded at once */
	int skip;			/* go on after a video that is refused */
	int verbose;			/* 1: a note a video, 2: timings too */
	struct stream_writer *stream;
	struct commit *report;		/* NULL: none */
	volatile sig_atomic_t *asked;	/* non-zero: note how far it is */
	struct ledger_sum sum;		/* filled in */
	struct tally tally;		/* samples stored, by class; the caller
					 * frees it */
};

/*
 * extract_all(r): 0 when all videos are stored, or skipped if ${r->skip}; -1
 * after a message at the first that is refused, or when the stream or the
 * report cannot be written, or if a signal came.  What is written is the same
 * for every number of threads.
 */
int extract_all(struct extract_run *r);

/*
 * extract_refusal(row, x, stop):
 * Return the message why the video of ${row} is refused.  It begins with the
 * line of the list.  If the file is missing it lists the paths that were tried.
 * If ${stop}, it then names the option that skips such videos.  The caller
 * frees it.
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
