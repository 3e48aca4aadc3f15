#ifndef CLIP_SWAPS_H
#define CLIP_SWAPS_H

/*
 * What classes become where a clip is mirrored: "left to right" becomes "right
 * to left".  A table with the columns class and mirrored, of names or numbers;
 * both directions follow from one row.  "-" in place of the second class: clips
 * of this class are not mirrored.
 */

#include "base/hash.h"
#include "shard/classes.h"

enum { SWAP_NEVER = -1 };

struct swaps { int classes, *to; };	/* [classes]: itself for most */

/* swaps_parse(what, text, c, s): -1 after a message naming ${what} and the line,
 * if a class is none of ${c}, or is there twice. */
int swaps_parse(const char *what, const char *text,
    const struct class_list *c, struct swaps *s);
void swaps_free(struct swaps *s);		/* leaves an empty one */

struct hash128 swaps_hash(const struct swaps *s);

/*
 * swaps_class(s, flip, class): what ${class} is in a clip that is mirrored if
 * ${*flip}, which becomes 0 if it must not be.
 * swaps_set(s, flip, share): the same of a set, share[s->classes] of 0 and 1.
 */
int swaps_class(const struct swaps *s, int *flip, int class);
void swaps_set(const struct swaps *s, int *flip, float *share);

#endif
