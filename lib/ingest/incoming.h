#ifndef INGEST_INCOMING_H
#define INGEST_INCOMING_H

/*
 * Clips that come one after the other, from video files or from a stream of
 * vt-extract, each with all its frames as they would be packed.  Any number of
 * them takes the memory of a few: what is beyond a spool's budget is in a file.
 */

#include "ingest/extract.h"

struct arrival {
	const char *name;		/* path as given; for a stream, the
					 * source path it stores, else the
					 * key */
	const char *key;		/* sample key in the stream; NULL: a
					 * file */
	const char *stream;		/* for messages; NULL: a file */
	enum extract_format format;
	struct extraction x;		/* of a stream: frames, width, height,
					 * frame, kept */
};

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
 * incoming_next(in, a): the next clip into ${a}, which belongs to ${in} and
 * stands until the next call.  1; 0 after the last; after a message -1: the
 * stream cannot be opened up or is damaged, or ends too early.
 */
int incoming_next(struct incoming *in, struct arrival *a);
void incoming_free(struct incoming *in);

#endif
