#ifndef TRAIN_RUN_SNAPSHOT_H
#define TRAIN_RUN_SNAPSHOT_H

/* Copy the state of a run to the host, and write it as a checkpoint. */

#include <stdio.h>

#include "train/run/checkpoint.h"

/* A host copy of tensors and metadata, made at a step boundary. */
struct snapshot;

/*
 * snapshot_take(copy, n, slots, s):
 * Copy parameters, optimizer state and ${s} to a new ${*copy} on rank 0, which
 * gathers the state that other ranks own.  Set ${*copy} to NULL on other ranks.
 * Return 0, or -1 if communication fails.  The caller calls snapshot_free, or
 * passes the copy to saver_start.  Collective: all ranks of ${slots} call it.
 */
int snapshot_take(struct snapshot **copy, const struct net *n,
    const struct slots *slots, const struct state *s);
void snapshot_free(struct snapshot *s);

/*
 * snapshot_write(s, path, hash, e):
 * Commit ${s} as checkpoint file ${path} (base/file.h), and set ${*hash} to
 * the hash of the file.  Return 0, or -1 with a message in ${e}, printed if
 * ${e} is NULL, also if a value is not finite.
 */
int snapshot_write(const struct snapshot *s, const char *path,
    struct hash128 *hash, struct error *e);

/*
 * snapshot_compare(s, f, first):
 * Return the number of tensors that ${s} and file ${f} do not have in common
 * with the same bits.  If there are any, point ${*first} to the name of the
 * first, which belongs to ${s} or ${f}.
 */
int snapshot_compare(const struct snapshot *s, const struct safetensors *f,
    const char **first);

/*
 * snapshot_space(s, dir, keep, best):
 * Return the bytes of disk that the checkpoints of snapshot_check_space take
 * besides those that exist.
 */
double snapshot_space(const struct slots *s, const char *dir, int keep,
    int best);

/*
 * snapshot_check_space(s, dir, keep, best, f):
 * Compute the disk space of checkpoints in run directory ${dir}, which may not
 * exist yet.  It holds ${keep} of them, one that is being written, and with
 * ${best} the best one.  ${s} is the optimizer state, with its net.
 * Print the result to ${f} (NULL: do not), and warn if the disk is too small.
 */
void snapshot_check_space(const struct slots *s, const char *dir, int keep,
    int best, FILE *f);

#endif
