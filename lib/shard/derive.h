#ifndef SHARD_DERIVE_H
#define SHARD_DERIVE_H

/*
 * Names of classes when nobody gave them.  Keys come from paths, and videos
 * mostly lie in a directory named for their class: the first component of the
 * keys, counted from the left, that has one name for each label and one label
 * for each name gives the names.  If there is none, or a sample has several
 * labels, they are "0", "1" and so on.
 */

#include "shard/manifest.h"
#include "shard/sample.h"

#define CLASSES_MOST 1000000	/* a label without a class is below this */

struct derive;

struct derive *derive_new(void);
void derive_free(struct derive *d);

/* derive_add(d, s): see the key and the labels of sample ${s}. */
void derive_add(struct derive *d, const struct sample *s);

/* derive_classes(d, to): the names of labels 0 to the largest seen. */
void derive_classes(const struct derive *d, struct class_list *to);

#endif
