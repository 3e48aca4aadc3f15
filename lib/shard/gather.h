#ifndef SHARD_GATHER_H
#define SHARD_GATHER_H

/*
 * Members of a stream gathered to samples, as they will stand in a shard: each
 * member must be the one that comes next, and KEY.json must agree with them.
 */

#include <stdint.h>

#include "base/mem.h"
#include "shard/sample.h"
#include "shard/shard.h"
#include "shard/stream_read.h"

struct gather {
	struct stream_list streams;	/* of all samples */
	int fixed;			/* the first sample has shown them all */
	uint64_t stream_samples, stream_frames;	/* complete, since the last end
						 * marker */

	/* The sample at hand. */
	int open;			/* some of its members came */
	char key[KEY_MAX + 1];
	uint64_t offset;		/* of its first member in the input */
	struct buffer bytes;		/* headers, data, padding; the user may
					 * take them away as they come */
	uint64_t total;			/* bytes, with those taken away */
	struct shard_record *record;	/* blk: from the first header */
	size_t records, cap;
	uint64_t frames;		/* members that are frames */
	int label;			/* from KEY.cls, else -1 */
	char last[USTAR_NAME + 1];	/* the member before, for messages */
	uint64_t last_offset;

	struct sample *sample;		/* from KEY.json; NULL before */
};

/*
 * gather_member(g, r, m): add the member that stream_next of ${r} gave.
 * STREAM_MORE; STREAM_DONE when the sample is complete; BAD or CUT.
 */
int gather_member(struct gather *g, struct stream_reader *r,
    const struct stream_member *m);

/*
 * gather_end(g, r, m): read the end marker ${m} and compare it with the samples
 * that came.  STREAM_MORE, BAD or CUT.
 */
int gather_end(struct gather *g, struct stream_reader *r,
    const struct stream_member *m);

/* gather_next(g): forget the sample that is complete, begin another. */
void gather_next(struct gather *g);

void gather_free(struct gather *g);	/* leaves an empty one */

#endif
