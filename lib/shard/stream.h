#ifndef SHARD_STREAM_H
#define SHARD_STREAM_H

/*
 * The stream between vt-extract and vt-pack (vt-shard(5)): a ustar of frames,
 * each sample closed by its KEY.json, the whole closed by an end marker that
 * tells a producer that finished from one that died.
 */

#include <stddef.h>
#include <stdint.h>

#include "shard/sample.h"

/* Members that are not of a sample; readers of tar see them and go on. */
#define STREAM_HEAD "__vt__/.head"
#define STREAM_END "__vt__/.end"

struct stream_writer;

/* stream_open(fd, path, tool): ${path} is for messages.  ${tool} is written to
 * the end-of-stream marker, such as "vt-extract 0.2.0". */
struct stream_writer *stream_open(int fd, const char *path, const char *tool);

/*
 * stream_head(w, classes, n, options):
 * Tell the packer, ahead of the first sample, the names of classes 0 to ${n} -
 * 1 (UTF-8; 0 of them: not known) and the settings the frames were made with,
 * as one canonical JSON object (NULL: not known); both become part of the set's
 * identity.  May be left out.
 */
int stream_head(struct stream_writer *w, const char *const *classes, size_t n,
    const char *options);

/*
 * stream_begin(w, s), then stream_frame for each of s->frames frames, then
 * stream_commit, which writes KEY.cls and KEY.json.  ${s} has one stream,
 * without a tag; its flags SHARD_VARIABLE and SHARD_LABELS follow from its times
 * and labels.  What ${s} points to must live until then.
 */
int stream_begin(struct stream_writer *w, const struct sample *s);
int stream_frame(struct stream_writer *w, const void *data, size_t n);
int stream_commit(struct stream_writer *w);

/* stream_end(w, status): write the end marker; frees ${w} in any case.
 * stream_drop(w): free it without an end marker. */
int stream_end(struct stream_writer *w, const char *status);
void stream_drop(struct stream_writer *w);

#endif
