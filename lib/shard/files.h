#ifndef SHARD_FILES_H
#define SHARD_FILES_H

/*
 * The open shards of a set, shared by many threads.  They stay open until the
 * limit of open files is reached.  Then the least recently used one is closed.
 */

#include <stddef.h>

#include "shard/reader.h"

struct files;

/* files_new(shards): Return a table for ${shards} shards, none of them open. */
struct files *files_new(size_t shards);

/* files_free(f): Close and free all shards, and ${f}.  NULL does nothing. */
void files_free(struct files *f);

/*
 * files_open(f, k, path, d):
 * Open shard ${k} for the first time.  Return NULL with ${*d} set, as
 * shard_open does.  Only one thread may call it, before any files_take.
 */
const struct shard *files_open(struct files *f, size_t k, const char *path,
    struct damage *d);

/*
 * files_shard(f, k):
 * Return shard ${k}.  Use only its index, because its file may be closed.
 */
const struct shard *files_shard(const struct files *f, size_t k);

/*
 * files_take(f, k, e):
 * Return shard ${k} with its file open until files_release.  Return NULL with a
 * message in ${e}, printed if ${e} is NULL.  Any thread may call it.
 */
const struct shard *files_take(struct files *f, size_t k, struct error *e);

/* files_release(f, k): End the use that files_take began. */
void files_release(struct files *f, size_t k);

#endif
