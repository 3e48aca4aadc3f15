#ifndef SHARD_PACK_H
#define SHARD_PACK_H

/*
 * Packing: streams are read, and a directory of shards is written.
 *
 * Shards are committed one by one, and then recorded in the journal.  The
 * manifest comes last and completes the set.  The boundaries of shards depend
 * only on the samples.  So a pack that was stopped and repeated gives the same
 * bytes as an uninterrupted one.  It compares the input with the existing
 * shards and continues after them.
 */

#include <stddef.h>
#include <stdint.h>

#include "shard/stream_read.h"
#include "shard/writer.h"

/* Counts for progress lines and for the summary. */
struct pack_report {
	uint64_t samples, frames, bytes;	/* of the set so far */
	size_t shards;
	uint64_t read;				/* bytes of input */
	uint64_t skipped;			/* members omitted */
	uint64_t defective;			/* truncated or damaged ones */
	char *classes;				/* samples per class, as
						 * tally_text prints them;
						 * NULL before the end; the
						 * caller frees it */
};

/* Options and callbacks of pack().  All pointers must remain valid during
 * the call. */
struct pack_options {
	const char *dir, *prefix;
	uint64_t shard_size, max_member;	/* bytes */
	const char *classes;			/* file of names, or NULL */
	int continued;		/* the input lacks the samples that are
				 * packed already */
	int force;		/* replace an existing set */
	enum stream_layout foreign;	/* as in struct stream_limits */
	int skip_foreign;			/* the same */
	int dry_run;		/* compute everything, write nothing */

	/* A shard is durable, or would be without dry_run.  Return 0, or -1
	 * to stop.  Called in order, on the thread of pack(). */
	int (*packed)(void *arg, const char *name, const struct shard_sum *sum);
	/* Called for each member and while input is awaited.  May be NULL. */
	void (*tick)(void *arg, const struct pack_report *so_far);
	void *arg;
};

/*
 * pack(o, input, n, report):
 * Pack ${n} streams, "-" for standard input, one after the other, and set
 * ${*report}.  Return an exit status of base/exit.h after messages:
 * - EXIT_DONE;
 * - EXIT_SKIPPED if members were omitted;
 * - EXIT_USAGE if the content of the directory does not match the input and the
 *   options.  Then nothing was changed;
 * - EXIT_FAILED otherwise.  Finished shards remain for the next run.
 * A signal (base/stop.h) ends it like an error.
 */
int pack(const struct pack_options *o, const char *const *input, size_t n,
    struct pack_report *report);

/*
 * pack_prefix_valid(prefix):
 * Return 1 if shard names can begin with ${prefix}, 0 otherwise.
 */
int pack_prefix_valid(const char *prefix);

#endif
