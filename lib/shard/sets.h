#ifndef SHARD_SETS_H
#define SHARD_SETS_H

/*
 * The sets of classes of samples that have flag SHARD_LABELS, all in memory: 12
 * bytes a class, so that neither a training step nor an evaluation reads or
 * allocates anything for them.
 */

#include <stdint.h>

#include "shard/dataset.h"

struct sets;

/*
 * sets_read(d, bad): those of all samples of ${d}.  NULL if no sample has one,
 * ${*bad} 0; or after a message, ${*bad} -1 if a file cannot be read, -2 if it
 * is damaged or a class is none of ${d}'s.
 */
struct sets *sets_read(const struct dataset *d, int *bad);
void sets_free(struct sets *s);

/* sets_of(s, i, n): the set of sample ${i}, [*n]; NULL if it has none. */
const struct class_span *sets_of(const struct sets *s, uint32_t i, int *n);

#endif
