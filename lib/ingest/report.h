#ifndef INGEST_REPORT_H
#define INGEST_REPORT_H

#include <stdint.h>

#include "base/mem.h"
#include "ingest/compare.h"
#include "ingest/extract.h"

/*
 * The report of vt-extract: one JSON object per line.  vt-extract(1) describes
 * the fields.
 */

/*
 * report_video(b, path, x):
 * Append the line of the video ${path} to ${b}.  In a path that is not UTF-8,
 * U+FFFD replaces the invalid bytes; a second field, "path_hex", has all its
 * bytes in hexadecimal.
 */
void report_video(struct buffer *b, const char *path,
    const struct extraction *x);

/* Totals of a run. */
struct report_totals {
	int64_t videos;			/* videos in the list */
	int64_t stored, skipped, frames, bytes;	/* ${bytes} counts the
						 * sources */
	int64_t stored_bytes;		/* bytes of the stored frames */
	double seconds;			/* wall-clock time */
};

/*
 * report_summary(b, status, s, c, n):
 * Append the last line to ${b}, with the findings of ${c}, and set their
 * numbers in ${n}.  ${status} is "ok" or "stopped".
 */
void report_summary(struct buffer *b, const char *status,
    const struct report_totals *s, const struct compare *c,
    struct compare_counts *n);

#endif
