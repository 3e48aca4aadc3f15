#ifndef SHARD_TALLY_H
#define SHARD_TALLY_H

/* Counts of samples by class, for the summary line of a command. */

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "shard/classes.h"
#include "shard/sample.h"

/* The counts.  Initialize them with { 0 }. */
struct tally {
	int *label;			/* [n] classes of all samples counted */
	size_t n, cap;
	size_t unlabeled;		/* samples without a class */
	size_t defective;		/* samples flagged as truncated or
					 * damaged */
};

/*
 * tally_add(t, s):
 * Count sample ${s} by its labels and flags.  A sample with several classes
 * counts once in each.
 */
void tally_add(struct tally *t, const struct sample *s);

/*
 * tally_counts(t, classes):
 * Return the number of samples of each of ${classes} classes.  The caller frees
 * the array.
 */
uint64_t *tally_counts(const struct tally *t, size_t classes);

/*
 * tally_text(t, classes, to):
 * Append ", 2 classes (fall: 3, walk: 5), 1 without a class" to ${to}.  Print
 * all names of ${classes}; if it is empty, print the numbers that occur.  If
 * the list exceeds 400 bytes, print only the smallest and the largest class.
 * Append nothing without classes.
 */
void tally_text(struct tally *t, const struct class_list *classes,
    struct buffer *to);

/* tally_free(t): Free the memory and leave an empty tally. */
void tally_free(struct tally *t);

#endif
