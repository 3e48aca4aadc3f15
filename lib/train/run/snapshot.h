#ifndef TRAIN_RUN_SNAPSHOT_H
#define TRAIN_RUN_SNAPSHOT_H

#include "train/run/checkpoint.h"

/* A copy of tensors and state on the host, made at a step border. */
struct snapshot;

/*
 * snapshot_take(copy, n, slots, s): a copy on rank 0, ${*copy}, which is NULL on
 * the others; all ranks that share the slots call it.  -1 if another cannot be
 * reached.
 */
int snapshot_take(struct snapshot **copy, const struct net *n,
    const struct slots *slots, const struct state *s);
void snapshot_free(struct snapshot *s);

/* snapshot_write(s, path, hash): commit it as a file, whose hash is written to
 * ${*hash}; -1 after a message, and so if a value is not finite. */
int snapshot_write(const struct snapshot *s, const char *path,
    struct hash128 *hash);

/*
 * snapshot_compare(s, f, first): how many tensors of ${s} are not in file ${f}
 * as they are, or are in it and not in ${s}; the name of the first of them goes
 * to ${*first}, and belongs to either.
 */
int snapshot_compare(const struct snapshot *s, const struct safetensors *f,
    const char **first);

#endif
