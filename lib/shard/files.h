#ifndef SHARD_FILES_H
#define SHARD_FILES_H

/*
 * The shards of a set, used by many threads.  They stay open until there are
 * too many open files; then the one that was used longest ago is closed for a
 * while.
 */

#include <stddef.h>

#include "shard/reader.h"

struct files;

struct files *files_new(size_t shards);
void files_free(struct files *f);	/* and the shards; NULL is fine */

/*
 * files_open(f, k, path, d): open shard ${k} the first time; NULL and ${d}
 * filled in, as from shard_open.  One thread at a time, before files_take.
 */
const struct shard *files_open(struct files *f, size_t k, const char *path,
    struct damage *d);

/* files_shard(f, k): its index; its file may be closed. */
const struct shard *files_shard(const struct files *f, size_t k);

/* files_take(f, k, e): shard ${k} with its file open, until it is let go; NULL on
 * an error, with the message in ${e} or, if ${e} is NULL, printed. */
const struct shard *files_take(struct files *f, size_t k, struct error *e);
void files_let_go(struct files *f, size_t k);

#endif
