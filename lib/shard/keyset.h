#ifndef SHARD_KEYSET_H
#define SHARD_KEYSET_H

/* The keys of a set and the origin of each, to detect duplicates. */

#include <stddef.h>
#include <stdint.h>

struct keyset;

/* keyset_new(): Return an empty set.  keyset_free frees it. */
struct keyset *keyset_new(void);

/* keyset_free(k): Free ${k}.  NULL does nothing. */
void keyset_free(struct keyset *k);

/*
 * keyset_add(k, key, source, offset):
 * Add a copy of ${key} with its origin: an input number and an offset.  Return
 * 1 if it is new.  Otherwise set ${*source} and ${*offset} to the origin of the
 * first occurrence, and return 0.
 */
int keyset_add(struct keyset *k, const char *key, uint32_t *source,
    uint64_t *offset);

#endif
