#ifndef SHARD_SHARD_QUERY_H
#define SHARD_SHARD_QUERY_H

/*
 * Queries of shards or of a whole set, for the output of vt-pack.  Each prints
 * to ${f}.  Return 0, or -1 after a message, or -2 after a message if something
 * is damaged.  Write errors of ${f} are not reported: the caller closes it and
 * checks.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "shard/classes.h"
#include "shard/reader.h"

/* The input: a set if ${dir} is not NULL, otherwise ${shard}[${shards}]. */
struct shard_query { const char *dir; const char *const *shard; size_t shards;
	};

/*
 * shard_query_each(l, each, arg):
 * Call ${each} for every shard, with the classes of the set, none without a
 * set.  Stop at the first result that is not 0, and return it: -1 or -2 after a
 * message, or 1, which means done.
 */
int shard_query_each(const struct shard_query *l, int (*each)(
    const struct shard *s, const struct class_list *classes, void *arg),
    void *arg);

/*
 * shard_query_list(l, f):
 * Print a table with one row per sample.  Return 1 after a write error.
 */
int shard_query_list(const struct shard_query *l, FILE *f);

/*
 * shard_query_cat(l, key, frame, f):
 * Write frame ${frame} of stream 0 as it is stored.  If ${frame} is -1, write
 * the members of the sample as a tar.  Return 1 if the key exists, 0 if not.
 */
int shard_query_cat(const struct shard_query *l, const char *key, int64_t frame,
    FILE *f);

/*
 * shard_query_samples(dir, each, arg):
 * Call ${each} for every sample of the set in ${dir}, or of its finished shards
 * if packing was not finished; never if there is neither.  Stop at the first
 * result that is not 0, and return it.
 *
 * shard_query_done(dir, zero, f):
 * Print the path of the video of each of these samples, followed by a newline,
 * or by '\0' if ${zero} is 1.
 */
int shard_query_samples(const char *dir, int (*each)(const struct sample *s,
    void *arg), void *arg);
int shard_query_done(const char *dir, int zero, FILE *f);

#endif
