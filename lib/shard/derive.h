#ifndef SHARD_DERIVE_H
#define SHARD_DERIVE_H

/*
 * Inference of class names that were not given.  Keys come from paths, and most
 * videos lie in a directory named after their class.  Use the first component
 * of the keys, from the left, that maps labels to names one to one.  If there
 * is none, or a sample has several labels, the names are "0", "1" and so on.
 */

#include "shard/manifest.h"
#include "shard/sample.h"

#define CLASSES_MOST 1000000	/* labels without class names are less */

struct derive;

/* derive_new(): Return an empty state.  derive_free frees it. */
struct derive *derive_new(void);

/* derive_free(d): Free ${d}.  NULL does nothing. */
void derive_free(struct derive *d);

/* derive_add(d, s): Record the key and the labels of sample ${s}. */
void derive_add(struct derive *d, const struct sample *s);

/*
 * derive_classes(d, to):
 * Append the names of labels 0 to the largest one seen to ${to}, which is
 * empty.
 */
void derive_classes(const struct derive *d, struct class_list *to);

#endif
