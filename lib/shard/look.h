#ifndef SHARD_LOOK_H
#define SHARD_LOOK_H

/*
 * Looking into shards, or into a whole set: what vt-pack prints of them.  Each
 * returns 0, or 1 if it was ended before the last shard; -1 after a message, -2
 * when something is damaged.  Errors of ${f} are left to who closes it.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A set, or else shards. */
struct look { const char *dir; const char *const *shard; size_t shards; };

/* look_list(l, f): a table, a row a sample. */
int look_list(const struct look *l, FILE *f);

/*
 * look_cat(l, key, frame, f): one frame as it is stored or, with -1, the
 * members of the sample as a tar.  1 if there is such a key, else 0.
 */
int look_cat(const struct look *l, const char *key, int64_t frame, FILE *f);

/*
 * look_sources(l, zero, f): the path of each sample's video, a line each or
 * up to a zero byte.
 */
int look_sources(const struct look *l, int zero, FILE *f);

/*
 * look_done(dir, zero, f): the same of a set that is finished, or of the
 * finished shards of one that is not; nothing if there is neither.
 */
int look_done(const char *dir, int zero, FILE *f);

#endif
