/* Search for pairs of hashes that differ in few bits. */
#include <stdlib.h>

#include "base/mem.h"
#include "shard/near.h"

enum { BANDS = NEAR_MAX + 1, BUCKETS = 1 << 10 };	/* a band has 9 or 10
							 * bits */

static uint32_t
near_band(uint64_t hash, int band)
{
	int first = band * 64 / BANDS, end = (band + 1) * 64 / BANDS;

	return (uint32_t)(hash >> first) & ((1u << (end - first)) - 1);
}

/* Sort the numbers of the hashes by a band.  ${first}[BUCKETS + 1] gets the
 * first of each bucket. */
static void
near_sort(const uint64_t *hash, uint32_t n, int band, uint32_t *first,
    uint32_t *sorted)
{
	uint32_t at[BUCKETS];

	for (int i = 0; i <= BUCKETS; i++)
		first[i] = 0;
	for (uint32_t i = 0; i < n; i++)
		first[near_band(hash[i], band) + 1]++;
	for (int i = 0; i < BUCKETS; i++) {
		first[i + 1] += first[i];
		at[i] = first[i];
	}
	for (uint32_t i = 0; i < n; i++)
		sorted[at[near_band(hash[i], band)]++] = i;
}

/* Return 1 if an earlier band agrees, too: then the pair was found there. */
static int
near_is_known(uint64_t different, int band)
{
	for (int i = 0; i < band; i++)
		if (near_band(different, i) == 0)
			return 1;
	return 0;
}

size_t
near_find(const uint64_t *hash, uint32_t n, struct near_pair **pairs)
{
	uint32_t first[BUCKETS + 1];
	uint32_t *sorted = xcalloc((size_t)n + 1, sizeof(*sorted));
	size_t found = 0, cap = 0;

	*pairs = NULL;
	for (int band = 0; band < BANDS; band++) {
		near_sort(hash, n, band, first, sorted);
		for (int k = 0; k < BUCKETS; k++)
			for (uint32_t i = first[k]; i < first[k + 1]; i++)
				for (uint32_t j = i + 1; j < first[k + 1];
				    j++) {
					uint64_t x = hash[sorted[i]] ^
					    hash[sorted[j]];
					int d = __builtin_popcountll(x);

					if (d > NEAR_MAX ||
					    near_is_known(x, band))
						continue;
					*pairs = array_reserve(*pairs, found,
					    &cap, sizeof(**pairs));
					(*pairs)[found++] = (struct near_pair){
						sorted[i], sorted[j], d };
				}
	}
	free(sorted);
	return found;
}
