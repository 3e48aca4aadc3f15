#ifndef INGEST_EXTRACT_OUTPUT_H
#define INGEST_EXTRACT_OUTPUT_H

/*
 * The stream and the report that vt-extract writes.  Files get their names only
 * when they are complete.
 */

#include <stdint.h>

#include "base/file.h"
#include "ingest/compare.h"
#include "ingest/extract.h"
#include "ingest/report.h"
#include "shard/classes.h"
#include "shard/stream.h"

struct extract_output {
	const char *path;		/* of the stream; NULL: ${fd} */
	int fd;
	const char *report_path;	/* NULL: no report */
	struct stream_writer *stream;
	struct commit *out, *report;
	struct compare *compare;	/* for the report; NULL: none */
};

/*
 * extract_output_open(o, l, classes, how):
 * Open the stream and the report of the videos ${l}, and write the head of the
 * stream.  Return 0, or -1 after a message; extract_output_drop closes ${o} in
 * both cases.
 *
 * extract_output_end(o, status):
 * Write the end-of-stream marker with ${status} and sync.  The file still has
 * its temporary name.  Return 0, or -1 after a message.
 *
 * extract_output_close(o, complete, sum):
 * If ${complete} is 1, rename the stream to its final name, so a file with this
 * name is complete.  Then complete the report, which says "ok" only if that
 * succeeded.  Return 0, or -1 after a message.
 */
int extract_output_open(struct extract_output *o, const struct list *l,
    const struct class_list *classes, const struct extract_options *how);
int extract_output_end(struct extract_output *o, const char *status);
int extract_output_close(struct extract_output *o, int complete,
    const struct report_totals *sum);

/* extract_output_drop(o): Free ${o}, and remove files without a final name. */
void extract_output_drop(struct extract_output *o);

#endif
