#ifndef INGEST_CLIP_SOURCE_H
#define INGEST_CLIP_SOURCE_H

/*
 * A source of clips: video files, or a stream of vt-extract.  Each clip has all
 * its frames, encoded as they would be packed.  The memory use does not depend
 * on the number of clips, because frames beyond a spool's budget go to a file.
 */

#include "ingest/extract.h"

/* The first member of each kind of source. */
struct clip_source {
	/* clip_source_next(in, x) */
	int (*next)(struct clip_source *in, const struct extraction **x);
	/* clip_source_free(in); frees ${in} too */
	void (*free)(struct clip_source *in);
	const char *settings;		/* of a stream's frames, as JSON
					 * (ingest/extract_settings.h); NULL
					 * before the first sample, if the
					 * stream does not declare them, and for
					 * video files; valid until the next
					 * clip_source_next */
};

/*
 * clip_source_videos(path, n, how, threads):
 * Open ${n} video files as a source, in this order.  ${threads} threads decode
 * ahead.  A refused video is delivered like the others, with kept 0 and a
 * message.
 * Return the source; the caller frees it with clip_source_free.  ${path} and
 * everything ${how} points to must outlive it.
 */
struct clip_source *clip_source_videos(const char *const *path, size_t n,
    const struct extract_options *how, int threads);

/*
 * clip_source_stream(path, memory):
 * Open the stream ${path} ("-": standard input) as a source of its samples.
 * Return the source, or NULL after a message.  The caller frees it with
 * clip_source_free; ${memory} must outlive it.
 */
struct clip_source *clip_source_stream(const char *path,
    struct spool_budget *memory);

/*
 * clip_source_next(in, x):
 * Point ${*x} at the next clip, which belongs to ${in} and is valid until the
 * next call.
 * The sample's source is the path as given; for a stream it is the path that
 * the stream stores, or the key if it stores none.  A clip from a file has no
 * key.  A clip from a stream sets only sample, frame and kept; its sample.shard
 * is the stream, for messages.
 * Return 1; 0 after the last clip; -1 after a message if the stream cannot be
 * read, is damaged or ends too early; -2 after a message if its writer failed.
 */
int clip_source_next(struct clip_source *in, const struct extraction **x);

/*
 * clip_source_free(in):
 * Close the source and stop its threads.  NULL does nothing.
 */
void clip_source_free(struct clip_source *in);

#endif
