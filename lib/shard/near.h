#ifndef SHARD_NEAR_H
#define SHARD_NEAR_H

/* Search for pairs of hashes that differ in few bits. */

#include <stddef.h>
#include <stdint.h>

/* The largest distance in bits.  Two random hashes of 64 bits are that near
 * with a probability of 5e-12. */
#define NEAR_MAX 6

struct near_pair { uint32_t a, b; int distance; };

/*
 * near_find(hash, n, pairs):
 * Find all pairs of the ${n} hashes that differ in at most NEAR_MAX bits, and
 * set ${*pairs} to them, a < b, which the caller frees.  Return their number.
 * Hashes that agree in one of NEAR_MAX + 1 bands of bits are compared; of two
 * hashes with fewer different bits than bands, one band agrees.
 */
size_t near_find(const uint64_t *hash, uint32_t n, struct near_pair **pairs);

#endif
