#ifndef SHARD_MANIFEST_H
#define SHARD_MANIFEST_H

/*
 * manifest.json: the list of a set's shards and what its labels mean.  It is
 * written last, and so it is what makes a set of the shards.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "shard/classes.h"
#include "shard/sample.h"
#include "shard/reader.h"
#include "shard/writer.h"

#define MANIFEST_NAME "manifest.json"
#define CLASSES_NAME "classes.txt"
#define SUMS_NAME "SHARDS.xxh128"
#define MANIFEST_VERSION 2	/* 1: its dataset_id is what settings_id is */

struct manifest_shard {
	char *name;
	uint64_t first;			/* number of its first sample */
	struct shard_sum sum;		/* data and index: once it is checked */
	int checked;
};

struct manifest {
	int64_t generation;
	char *options;			/* canonical JSON object */
	struct stream_list streams;
	struct class_list classes;
	int classes_derived;		/* see manifest_settings_id */
	struct hash128 settings;	/* what all footers have */
	struct hash128 id;		/* of the content, if identified */
	int identified;			/* not by version 0.1.0, and not before
					 * manifest_identify */
	struct manifest_shard *shard;
	size_t shards, cap;
	uint64_t bytes, frames, samples;	/* of all shards */
};

struct manifest *manifest_new(void);
void manifest_free(struct manifest *m);

/*
 * manifest_settings_id(classes, options, streams): how a set was made: XXH3-128
 * of the canonical JSON of the three.  Classes that were not known before the
 * last sample was seen do not enter it; then the options say so.
 */
struct hash128 manifest_settings_id(const struct class_list *classes,
    const char *options, const struct stream_list *streams);

/*
 * manifest_content_id(m): the identity of what is in it: XXH3-128 of the
 * canonical JSON of classes and shards' hashes, all of which must be known.
 */
struct hash128 manifest_content_id(const struct manifest *m);

/*
 * manifest_add(m, name, sum): the next shard, all of whose hashes are known;
 * copies the name.
 */
void manifest_add(struct manifest *m, const char *name,
    const struct shard_sum *sum);

/* manifest_write(dir, m): commit classes.txt, SHARDS.xxh128, manifest.json. */
int manifest_write(const char *dir, const struct manifest *m);

/* manifest_sums(m, b): append what SHARDS.xxh128 holds. */
void manifest_sums(const struct manifest *m, struct buffer *b);

/*
 * manifest_read(dir, d): read and check it.  NULL after a message, or without
 * one and ${d} filled in if that is not NULL.
 */
struct manifest *manifest_read(const char *dir, struct damage *d);

/*
 * manifest_check_shard(m, k, s, d): is ${s} the ${k}th shard of the set, with
 * labels that have a class?  -1 and ${d} filled in if not.  Threads may check
 * different shards at once.
 */
int manifest_check_shard(struct manifest *m, size_t k, const struct shard *s,
    struct damage *d);

/*
 * manifest_identify(m, d): every shard is checked: the identity of the content,
 * m->id, follows from their footers and the classes.  -1 and ${d} filled in if
 * the manifest says another.
 */
int manifest_identify(struct manifest *m, struct damage *d);

/* manifest_exists(dir): 1 or 0, without a message. */
int manifest_exists(const char *dir);

#endif
