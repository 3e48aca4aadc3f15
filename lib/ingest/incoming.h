#ifndef INGEST_INCOMING_H
#define INGEST_INCOMING_H

/*
 * Clips that come one after the other, from video files or from a stream of
 * vt-extract, each with all its frames as they would be packed.  Any number of
 * them takes the memory of a few: what is beyond a spool's budget is in a file.
 */

#include "ingest/extract.h"

struct incoming;

/*
 * incoming_videos(path, n, how, threads):
 * ${n} video files in their order; ${threads} decode ahead.  One that is
 * refused comes like the others, with kept 0 and a message.  ${path} and what
 * ${how} points to stay the caller's and must outlive it.
 */
struct incoming *incoming_videos(const char *const *path, size_t n,
    const struct extract_options *how, int threads);

/*
 * incoming_stream(path, memory):
 * The samples of a stream, "-" for standard input; of several streams of frames
 * in it, the first.  NULL after a message.  ${memory} stays the caller's.
 * incoming_settings(in): of a stream, how its frames were made, as JSON; NULL if
 * it does not say, and before the first sample has come.
 */
struct incoming *incoming_stream(const char *path, struct spool_budget *memory);
const char *incoming_settings(const struct incoming *in);

/*
 * incoming_next(in, x):
 * Set ${*x} to the next clip, which belongs to ${in} and is valid until the next
 * call.  Its source is the path as given; for a stream, the path that it stores,
 * or the key if it stores none.  A file has no key.  A stream has sample, frame
 * and kept only, and is the shard of its samples, for messages.
 * Return 1; 0 after the last; -1 after a message if the stream cannot be read,
 * is damaged or ends too early.
 */
int incoming_next(struct incoming *in, const struct extraction **x);
void incoming_free(struct incoming *in);

#endif
