#ifndef CLIP_SWAPS_H
#define CLIP_SWAPS_H

/*
 * The classes of mirrored clips: "left to right" becomes "right to left".  A
 * table has the columns class and mirrored, with names or numbers.  One row
 * sets both directions.  "-" in the second column: clips of this class are
 * never mirrored.
 */

#include "base/hash.h"
#include "shard/classes.h"

/* clips of this class are never mirrored */
enum { SWAP_NEVER = -1 };

struct swaps { int classes, *to; };	/* [classes] the mirrored class,
					 * SWAP_NEVER, or the class itself */

/*
 * swaps_parse(what, text, c, s):
 * Parse the table ${text} for the classes ${c} into ${*s}, which the caller
 * frees with swaps_free.  Return 0, or -1 after a message naming ${what} and
 * the line: a class is unknown, or is listed twice.
 */
int swaps_parse(const char *what, const char *text,
    const struct class_list *c, struct swaps *s);
void swaps_free(struct swaps *s);		/* frees ${s->to}; ${*s} is all
						 * 0 */

/* swaps_hash(s): return a hash of the mapping, for the run's fingerprint. */
struct hash128 swaps_hash(const struct swaps *s);

/*
 * swaps_class(s, flip, class):
 * Return the class of a clip of ${class}, mirrored if ${*flip}.  Set ${*flip}
 * to 0 if clips of this class are never mirrored.  A ${class} out of range is
 * returned unchanged.
 */
int swaps_class(const struct swaps *s, int *flip, int class);

/*
 * swaps_set(s, flip, share):
 * Do the same for a set of classes, share[s->classes], whose elements are 0 or
 * 1.
 */
void swaps_set(const struct swaps *s, int *flip, float *share);

#endif
