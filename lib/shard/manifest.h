#ifndef SHARD_MANIFEST_H
#define SHARD_MANIFEST_H

/*
 * manifest.json lists the shards of a set and the meaning of its labels.  It is
 * written last, so a directory with a manifest contains a complete set.
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
#define MANIFEST_VERSION 2

/* A shard of the set. */
struct manifest_shard {
	char *name;
	uint64_t first;			/* number of its first sample */
	struct shard_sum sum;		/* data and index: valid if checked */
	int checked;			/* by manifest_check_shard */
};

/* A manifest in memory. */
struct manifest {
	int64_t generation;
	char *options;			/* canonical JSON object */
	struct stream_list streams;
	struct class_list classes;
	int classes_derived;		/* 1: inferred; see
					 * manifest_settings_id */
	struct hash128 settings;	/* as in all footers */
	struct hash128 id;		/* of the content, after
					 * manifest_read */
	struct manifest_shard *shard;
	size_t shards, cap;
	uint64_t bytes, frames, samples;	/* of all shards */
	const uint64_t *class_samples;	/* [classes.n] samples of each class,
					 * for manifest_write; the caller owns
					 * it; NULL: not written */
};

/* manifest_new(): Return an empty manifest.  manifest_free frees it. */
struct manifest *manifest_new(void);

/* manifest_free(m): Free ${m} and all it contains.  NULL does nothing. */
void manifest_free(struct manifest *m);

/*
 * manifest_settings_id(classes, options, streams):
 * Return the identity of the settings: the XXH3-128 of the canonical JSON of
 * all three.  If classes are inferred, they are unknown until the last sample.
 * Then ${classes} is NULL, and ${options} says so.
 */
struct hash128 manifest_settings_id(const struct class_list *classes,
    const char *options, const struct stream_list *streams);

/*
 * manifest_content_id(m):
 * Return the identity of the content: the XXH3-128 of the canonical JSON of the
 * classes and of the hashes in the shards' footers, all of which must be known.
 */
struct hash128 manifest_content_id(const struct manifest *m);

/*
 * manifest_add(m, name, sum):
 * Append a shard whose hashes are all known.  ${name} is copied.
 */
void manifest_add(struct manifest *m, const char *name,
    const struct shard_sum *sum);

/*
 * manifest_write(dir, m):
 * Commit classes.txt, SHARDS.xxh128 and manifest.json.  Return 0, or -1 after a
 * message.
 */
int manifest_write(const char *dir, const struct manifest *m);

/* manifest_sums(m, b): Append the content of SHARDS.xxh128 to ${b}. */
void manifest_sums(const struct manifest *m, struct buffer *b);

/*
 * manifest_read(dir, d):
 * Read and check a manifest.  On an error, return NULL after a message, or, if
 * ${d} is not NULL, with ${*d} set and without a message.  manifest_free frees
 * it.
 */
struct manifest *manifest_read(const char *dir, struct damage *d);

/*
 * manifest_check_shard(m, k, s, d):
 * Check that ${s} is shard ${k} of the set, and that each label has a class.
 * Return 0, or -1 with ${*d} set.  Several threads may check different shards.
 */
int manifest_check_shard(struct manifest *m, size_t k, const struct shard *s,
    struct damage *d);

/*
 * manifest_identify(m, d):
 * Compare m->id with the footers of the shards, all of which must have been
 * checked, and with the classes.  Return 0, or -1 with ${*d} set if it differs.
 */
int manifest_identify(const struct manifest *m, struct damage *d);

/* manifest_exists(dir): Return 1 if ${dir} has a manifest, 0 otherwise. */
int manifest_exists(const char *dir);

#endif
