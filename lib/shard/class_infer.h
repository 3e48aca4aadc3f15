#ifndef SHARD_CLASS_INFER_H
#define SHARD_CLASS_INFER_H

/*
 * Inference of class names that were not given.  Keys come from paths, and most
 * videos lie in a directory named after their class.  Use the first component
 * of the keys, from the left, that maps labels to names one to one.  If there
 * is none, or a sample has several labels, the names are "0", "1" and so on.
 */

#include "shard/manifest.h"
#include "shard/sample.h"

struct class_infer;

/* class_infer_new(): Return an empty state.  class_infer_free frees it. */
struct class_infer *class_infer_new(void);

/* class_infer_free(d): Free ${d}.  NULL does nothing. */
void class_infer_free(struct class_infer *d);

/* class_infer_add(d, s): Record the key and the labels of sample ${s}. */
void class_infer_add(struct class_infer *d, const struct sample *s);

/* class_infer_least(d, n): There are ${n} classes, whichever are seen. */
void class_infer_least(struct class_infer *d, size_t n);

/*
 * class_infer_classes(d, to):
 * Append the names of labels 0 to the largest one known to ${to}, which is
 * empty.
 */
void class_infer_classes(const struct class_infer *d, struct class_list *to);

#endif
