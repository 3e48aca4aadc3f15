#ifndef SHARD_TALLY_H
#define SHARD_TALLY_H

/* How many samples each class has, for the last line of a command. */

#include <stddef.h>

#include "base/mem.h"
#include "shard/classes.h"
#include "shard/stream.h"

struct tally {
	int *label;			/* [n], of all samples */
	size_t n, cap;
	size_t unlabelled;		/* samples without a class */
	size_t defective;		/* truncated or damaged ones */
};

/*
 * tally_add(t, s): count sample ${s}, of which the label or the labels, and the
 * flags are used; a sample that has several classes counts in each.
 */
void tally_add(struct tally *t, const struct stream_sample *s);

/*
 * tally_text(t, classes, to):
 * Append ", 2 classes (fall: 3, walk: 5), 1 without a class" to ${to}.  Names
 * come from ${classes}, all of which are shown; if that is empty, classes are
 * the numbers that occur.  What would be longer than a line gets the smallest and
 * the largest class alone.
 */
void tally_text(struct tally *t, const struct class_list *classes,
    struct buffer *to);

void tally_free(struct tally *t);	/* leaves an empty one */

#endif
