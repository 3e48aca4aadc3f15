#ifndef INGEST_EXTRACT_ALL_H
#define INGEST_EXTRACT_ALL_H

/* All videos of a list to one stream, in the order of the list. */

#include <signal.h>

#include "base/file.h"
#include "ingest/extract.h"
#include "ingest/ledger.h"
#include "ingest/list.h"
#include "shard/key.h"
#include "shard/stream.h"
#include "shard/tally.h"

/* What a set calls a video: its path below the root, and the key from that. */
struct extract_key { char *source, text[KEY_MAX + 1]; };

/*
 * extract_keys(l, root, key): those of all rows.  With a NULL ${root}, it is
 * the current directory, and a video that is not below it has its bare name.
 * -1 after a message if a path is not below ${root}, or naming both paths if
 * two have one key: they would become one sample.  extract_keys_free frees the
 * ${n} sources and ${key}, which came from xcalloc.
 */
int extract_keys(const struct list *l, const char *root,
    struct extract_key *key);
void extract_keys_free(struct extract_key *key, size_t n);

/* extract_labels(row, label): what a table shows: the number, or those of the
 * row's set with commas between them, "none" if it is empty; the caller's to
 * free. */
char *extract_labels(const struct list_row *row, int label);

struct extract_run {
	const struct extract_options *how;
	const struct list *list;	/* numbered */
	const int *label;		/* [list->n] */
	const struct extract_key *key;	/* [list->n] */
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
