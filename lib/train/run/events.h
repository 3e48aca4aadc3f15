#ifndef TRAIN_RUN_EVENTS_H
#define TRAIN_RUN_EVENTS_H

/*
 * Write the scalars of a run for TensorBoard, as events.out.tfevents.TIME.HOST,
 * one file for each start of the command.
 *
 * A file is a sequence of records (TensorFlow's core/lib/io/record_writer.h):
 *
 *	u64 n, u32 crc of n, n bytes, u32 crc of the bytes
 *
 * in little endian, where crc is CRC32C, rotated right by 15 bits, plus
 * 0xa282ead8.  The bytes are a protocol buffer, Event (core/util/event.proto).
 * The first record names the version.  The second one starts a session at a
 * step: readers then drop that step and later ones from older files, which a
 * killed start may have left.  A truncated last record ends a file for them,
 * too.
 */

#include <stdint.h>

#include "base/append.h"

struct events { struct append file; };

struct event_scalar { const char *tag; double value; };

/*
 * events_open(e, dir, step):
 * Create a file in ${dir} for the steps after ${step}, with a TIME later than
 * that of any file there.  Return 0, or -1 after a message.
 */
int events_open(struct events *e, const char *dir, uint64_t step);

/* events_add(e, step, v, n): add ${n} scalars of ${step}, as floats.  Do
 * nothing if ${e} is not open.  A write error is a warning (base/append.h). */
void events_add(struct events *e, uint64_t step, const struct event_scalar *v,
    int n);

/* events_close(e): close the file.  Return 0, or -1 after a message if
 * something could not be written.  Do nothing if ${e} is not open. */
int events_close(struct events *e);

#endif
