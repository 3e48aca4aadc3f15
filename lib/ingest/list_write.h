#ifndef INGEST_LIST_WRITE_H
#define INGEST_LIST_WRITE_H

#include "base/mem.h"
#include "ingest/list.h"

/*
 * list_write(l, root, group, to):
 * Append ${l}, whose rows have keys, to ${to} as a list of format csv.  Read
 * with the same ${root}, it has the same samples, whatever the formats of the
 * lists were.  ${root} and the column ${group} may be NULL.
 * The columns are path and label, and as far as a row has them label_set,
 * further columns of labels, such as label:verb, time_start, time_end,
 * frame_start, frame_end, claimed_frames, official_name, ${group} and split.
 * Return 0, or -1 after a message if a path or a label contains a line end.
 */
int list_write(const struct list *l, const char *root, const char *group,
    struct buffer *to);

#endif
