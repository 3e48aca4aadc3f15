#ifndef INGEST_LABEL_INTERVALS_H
#define INGEST_LABEL_INTERVALS_H

/* Label intervals: from times or frames in a list to frames of a sample. */

#include "ingest/list.h"

/*
 * label_intervals_place(row, m):
 * Return the labels of ${m}, the stored sample of ${row}, with the frames that
 * show them: [m->nlabels], never NULL if successful.  Seconds count from the
 * beginning of the video.  A frame has the labels of the time when it appears.
 * An interval without such a frame gets the frame displayed then, or the
 * nearest.
 * The caller frees the array.  Return NULL after a message if labels are in
 * seconds but the frame rate is unknown.
 */
struct label_interval *label_intervals_place(const struct list_row *row,
    const struct sample *m);

#endif
