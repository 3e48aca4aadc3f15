#ifndef SHARD_KEYSET_H
#define SHARD_KEYSET_H

/* The keys of a set and where each came from, to find one that comes twice. */

#include <stddef.h>
#include <stdint.h>

struct keyset;

struct keyset *keyset_new(void);
void keyset_free(struct keyset *k);

/*
 * keyset_add(k, key, source, offset): 1 if it is new; 0 if it was there, and
 * then ${source} and ${offset} become those of the first time.
 */
int keyset_add(struct keyset *k, const char *key, uint32_t *source,
    uint64_t *offset);

#endif
