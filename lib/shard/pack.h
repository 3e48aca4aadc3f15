#ifndef SHARD_PACK_H
#define SHARD_PACK_H

/*
 * Packing: streams in, a directory of shards out.
 *
 * Shards are committed one by one and then written to the journal; the
 * manifest comes last and makes a set of them.  Where one shard ends depends
 * on the samples alone, so a pack that was stopped and done again gives the same
 * bytes as one that was not: it goes on by itself after the shards there are,
 * once it has compared the input with them.
 */

#include <stddef.h>
#include <stdint.h>

#include "shard/writer.h"

struct pack_report {
	uint64_t samples, frames, bytes;	/* of the set so far */
	size_t shards;
	uint64_t read;				/* bytes of input */
	uint64_t skipped;			/* members left out */
	uint64_t defective;			/* samples flagged as truncated
						 * or damaged */
	char *classes;				/* samples per class, as
						 * tally_text prints them; NULL
						 * before the end; the caller
						 * frees it */
};

struct pack_options {
	const char *dir, *prefix;
	uint64_t shard_size, max_member;	/* bytes */
	const char *classes;			/* file of names, or NULL */
	int rest;		/* the input lacks what is packed already */
	int force;		/* replace a set that is there */
	int foreign, skip_foreign;		/* shard/stream_read.h */
	int dry_run;		/* compute everything, write nothing */

	/* A shard is durable; in a dry run: would be.  -1 stops. */
	int (*packed)(void *arg, const char *name, const struct shard_sum *sum);
	/* Called often. */
	void (*tick)(void *arg, const struct pack_report *so_far);
	void *arg;
};

/*
 * pack(o, input, n, report):
 * Pack ${n} streams, "-" for standard input, one after the other.  Return an
 * exit status of base/exit.h: DONE; SKIPPED if members were left out; USAGE if
 * the directory holds something else than the input and the options make, and
 * then nothing was changed; else FAILED.  Finished shards stay for the next time.
 */
int pack(const struct pack_options *o, const char *const *input, size_t n,
    struct pack_report *report);

/* pack_prefix_valid(prefix): can it begin a shard's name?  1 or 0. */
int pack_prefix_valid(const char *prefix);

#endif
