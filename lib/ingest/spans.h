#ifndef INGEST_SPANS_H
#define INGEST_SPANS_H

/* Sets of classes, from lists into samples. */

#include "ingest/extract.h"
#include "shard/sample.h"

/*
 * spans_place(row, x, n): the set of ${row}, which list_number has
 * numbered, as KEY.json has it: [*n] spans of stored frames of
 * ${x}.  Seconds count from the beginning of the video; a frame belongs to what
 * is on from its time on; what no frame falls into is given to the frame on
 * then, or to the nearest.  The caller's to free; it is not NULL, unless there
 * was a message: the rate is not known.
 */
struct label_span *spans_place(const struct list_row *row,
    const struct extraction *x, int *n);

#endif
