#ifndef TRAIN_RUN_EVENTS_H
#define TRAIN_RUN_EVENTS_H

/*
 * Scalars of a run for TensorBoard, events.out.tfevents.TIME.HOST, a file for
 * each start of the command.
 *
 * A file is a sequence of records (TensorFlow's core/lib/io/record_writer.h):
 *
 *	u64 n, u32 crc of it, n bytes, u32 crc of them
 *
 * in little endian, where crc is CRC32C, rotated right by 15 bits, plus
 * 0xa282ead8.  A record is a protocol buffer, Event (core/util/event.proto).
 * The first names the version; the second says that the session starts with a
 * step: readers drop what earlier files, of a start that was killed, have of it
 * and of steps after it.  A record that a kill cut ends a file for them, too.
 */

#include <stdint.h>

#include "base/append.h"

struct events { struct append file; };

struct event_scalar { const char *tag; double value; };

/*
 * events_open(e, dir, step): a new file in ${dir} for the steps after ${step},
 * with a later TIME than any that is there; -1 after a message.
 */
int events_open(struct events *e, const char *dir, uint64_t step);

/* events_add(e, step, v, n): ${n} scalars at ${step}; nothing if ${e} is not
 * open.  Values are kept as floats. */
void events_add(struct events *e, uint64_t step, const struct event_scalar *v,
    int n);

int events_close(struct events *e);	/* as append_close */

#endif
