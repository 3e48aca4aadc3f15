#ifndef SHARD_DERIVE_H
#define SHARD_DERIVE_H

/*
 * Names of classes when nobody gave them.  Keys come from paths, and videos
 * mostly lie in a directory named for their class: the first component of the
 * keys, counted from the left, that has one name for each label and one label
 * for each name gives the names.  If there is none, or a sample has several
 * labels, they are "0", "1" and so on.
 */

#include "shard/info.h"
#include "shard/manifest.h"

#define CLASSES_MOST 1000000	/* a label without a class is below this */

struct derive;

struct derive *derive_new(void);
void derive_free(struct derive *d);

/* derive_see(d, key, label): a sample; ${label} may be -1. */
void derive_see(struct derive *d, const char *key, int label);

/* derive_several(d, label): a label of a sample that has several. */
void derive_several(struct derive *d, int label);

/* derive_classes(d, to): the names of labels 0 to the largest seen. */
void derive_classes(const struct derive *d, struct class_list *to);

#endif
