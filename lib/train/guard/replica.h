#ifndef TRAIN_GUARD_REPLICA_H
#define TRAIN_GUARD_REPLICA_H

#include "train/loop/trainer.h"

/*
 * replica_check(t): on all ranks: are weights and running statistics the same
 * bits on all of them?  0; EXIT_RANKS after a message that names the rank that
 * has others, its host, and the first tensor; -1 if a rank cannot be reached.
 * 24 million parameters are hashed in some 10 ms.
 */
int replica_check(struct trainer *t);

/*
 * param_hash(h, d, p, flat, piece, bytes): the hash of the values of parameter
 * ${p} in the flat buffer ${flat} of device ${d}, read through a ${piece} of
 * host memory.
 */
struct hasher;

#define HASH_PIECE 65536		/* bytes of ${piece} */

uint64_t param_hash(struct hasher *h, struct device *d, const struct param *p,
    const void *flat, void *piece);

#endif
