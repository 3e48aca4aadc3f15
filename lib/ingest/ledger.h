#ifndef INGEST_LEDGER_H
#define INGEST_LEDGER_H

#include <stdint.h>

#include "base/mem.h"
#include "ingest/extract.h"

/* The report of vt-extract: one JSON object a line; vt-extract(1) has them. */

/*
 * ledger_video(b, path, x):
 * Append the line of the video ${path}.  A path that is not UTF-8 has U+FFFD
 * where it is not, and its bytes in hexadecimal beside it, as "path_hex".
 */
void ledger_video(struct buffer *b, const char *path,
    const struct extraction *x);

/* What came of all of them. */
struct ledger_sum {
	int64_t videos;			/* named */
	int64_t stored, skipped, frames, bytes;	/* bytes of the sources */
	int64_t stored_bytes;		/* bytes of the frames */
	double seconds;			/* by the clock */
};

/* ledger_summary(b, status, s): append the last line; "ok" or "stopped". */
void ledger_summary(struct buffer *b, const char *status,
    const struct ledger_sum *s);

#endif
