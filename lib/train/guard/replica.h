#ifndef TRAIN_GUARD_REPLICA_H
#define TRAIN_GUARD_REPLICA_H

#include "train/loop/trainer.h"

/*
 * replica_check(t):
 * Compare the bits of weights and running statistics of all ranks.  Return 0 if
 * they are the same.  If not, return EXIT_RANKS after a message that names the
 * rank that differs, its host and the first tensor.  Return -1 after a message
 * if a rank cannot be reached.  It hashes 24 million parameters in about 10 ms.
 * Collective: all ranks call it.
 */
int replica_check(struct trainer *t);

/*
 * replica_param_hash(h, d, p, flat, piece): return the hash of the values of
 * parameter ${p} in the flat buffer ${flat} in memory of ${d}.  ${piece}
 * [HASH_PIECE] is scratch in host memory.
 */
struct hasher;

#define HASH_PIECE 65536		/* bytes */

uint64_t replica_param_hash(struct hasher *h, struct device *d,
    const struct param *p, const void *flat, void *piece);

#endif
