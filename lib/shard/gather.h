#ifndef SHARD_GATHER_H
#define SHARD_GATHER_H

/*
 * Assembly of stream members into samples, in the form in which a shard stores
 * them.  Each member must be the next one of its sample, and KEY.json must
 * agree with the members.
 */

#include <stdint.h>

#include "base/mem.h"
#include "shard/sample.h"
#include "shard/shard.h"
#include "shard/stream_read.h"

/* The state of the assembly.  Initialize it with { 0 }. */
struct gather {
	struct stream_list streams;	/* of all samples */
	int fixed;			/* 1: the list of streams is complete */
	uint64_t stream_samples, stream_frames;	/* complete, since the
						 * last end marker */

	/* The current sample. */
	int open;			/* 1: at least one member was read */
	char key[KEY_MAX + 1];
	uint64_t offset;		/* of its first member, in the input */
	struct buffer bytes;		/* headers, data and padding; the
					 * caller may consume them early */
	uint64_t total;			/* bytes, including consumed ones */
	struct shard_record *record;	/* blk: from the first header */
	size_t records, cap;
	uint64_t frames;		/* members that are frames */
	int label;			/* from KEY.cls, -1 without */
	char last[USTAR_NAME + 1];	/* the previous member, for messages */
	uint64_t last_offset;

	struct sample *sample;		/* from KEY.json, NULL before */
};

/*
 * gather_member(g, r, m):
 * Add the member ${m} that stream_next of ${r} returned.  Return STREAM_MORE,
 * or STREAM_DONE when the sample is complete.  Return STREAM_BAD after a
 * message, or STREAM_TRUNCATED without one.
 */
int gather_member(struct gather *g, struct stream_reader *r,
    const struct stream_member *m);

/*
 * gather_end(g, r, m):
 * Read the end-of-stream marker ${m} and compare its counts with the samples
 * that were read.  Return STREAM_MORE; STREAM_BAD or STREAM_GIVEN_UP after a
 * message; or STREAM_TRUNCATED without one.
 */
int gather_end(struct gather *g, struct stream_reader *r,
    const struct stream_member *m);

/* gather_next(g): Free the complete sample and prepare for the next one. */
void gather_next(struct gather *g);

/* gather_free(g): Free all memory and leave an empty state. */
void gather_free(struct gather *g);

#endif
