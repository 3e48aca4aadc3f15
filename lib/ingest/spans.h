#ifndef INGEST_SPANS_H
#define INGEST_SPANS_H

/* Sets of classes, from lists into samples. */

#include "ingest/list.h"

/*
 * spans_place(row, m):
 * Return the labels of ${m}, the stored sample of ${row}, with the frames that
 * show them: [m->nlabels], not NULL.  Seconds count from the beginning of the
 * video.  A frame has the labels of the time when it appears.  An interval
 * without such a frame gets the frame that is displayed then, or the nearest.
 * The caller frees the array.  NULL after a message: the rate is not known.
 */
struct label_span *spans_place(const struct list_row *row,
    const struct sample *m);

#endif
