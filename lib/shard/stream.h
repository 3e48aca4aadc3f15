#ifndef SHARD_STREAM_H
#define SHARD_STREAM_H

/*
 * Writer of the stream from vt-extract to vt-pack (vt-shard(5)).  It is a ustar
 * of frames. KEY.json closes each sample. An end-of-stream marker closes
 * the stream, so that a reader can distinguish a finished producer from a
 * killed one. One thread at a time may use a writer.
 */

#include <stddef.h>
#include <stdint.h>

#include "shard/classes.h"
#include "shard/sample.h"

/* Members that belong to no sample.  Readers of tar extract them as ordinary
 * files. */
#define STREAM_HEAD "__vt__/.head"
#define STREAM_END "__vt__/.end"
#define STREAM_RESULT "__vt__/.result"	/* to vt-extract only */
#define STREAM_FAILED "failed"		/* a status: the writer gave up */

struct stream_writer;

/*
 * stream_open(fd, path, tool):
 * Begin a stream on descriptor ${fd}, which stays open in the end.  ${path}
 * names it in messages.  ${tool}, such as "vt-extract 0.2.0", goes into the
 * end-of-stream marker.  End the writer with stream_end or stream_drop.
 */
struct stream_writer *stream_open(int fd, const char *path, const char *tool);

/*
 * stream_head(w, classes, numbered, options):
 * Write the header of the stream.  Call it before the first sample, or not at
 * all.  The names of ${classes}, none if they are unknown, must be UTF-8.
 * ${numbered}: nobody gave names, so they are numbers.  ${options} are the
 * settings of the extraction as a canonical JSON object, NULL if unknown.  Both
 * become part of the identity of the set.  Return 0, or -1 after a message.
 */
int stream_head(struct stream_writer *w, const struct class_list *classes,
    int numbered, const char *options);

/*
 * stream_begin(w, s):
 * Begin a sample.  Its flags SHARD_VARIABLE and SHARD_LABELS are set from its
 * times and labels.  The memory that ${s} points to must remain valid until
 * stream_commit.
 * stream_frame(w, data, n):
 * Write the next frame.  Call it once for each stream of each of s->frames
 * frames, in their order.
 * stream_commit(w):
 * Write KEY.cls and KEY.json, and flush the sample.
 *
 * All three return 0, or -1 after a message.
 */
int stream_begin(struct stream_writer *w, const struct sample *s);
int stream_frame(struct stream_writer *w, const void *data, size_t n);
int stream_commit(struct stream_writer *w);

/*
 * stream_result(w, text):
 * Write STREAM_RESULT, the JSON ${text} that follows the sample of a row or
 * replaces it (ingest/extract_worker.h).  Flush it.  Return 0, or -1 after a
 * message.
 */
int stream_result(struct stream_writer *w, const char *text);

/*
 * stream_written(w):
 * Return the number of bytes of all members so far, with their headers.
 */
uint64_t stream_written(const struct stream_writer *w);

/*
 * stream_end(w, status):
 * Write the end-of-stream marker with ${status}, such as "ok".  Only
 * STREAM_FAILED may follow an incomplete sample.  Free ${w} in any case.
 * Return 0, or -1 after a message.
 * stream_drop(w):
 * Free ${w} without an end-of-stream marker.  NULL does nothing.
 */
int stream_end(struct stream_writer *w, const char *status);
void stream_drop(struct stream_writer *w);

#endif
