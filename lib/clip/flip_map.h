#ifndef CLIP_FLIP_MAP_H
#define CLIP_FLIP_MAP_H

/*
 * The classes of mirrored clips: "left to right" becomes "right to left".  A
 * table has the columns class and mirrored, with names or numbers.  One row
 * sets both directions.  "-" in the second column: clips of this class are
 * never mirrored.
 */

#include "base/hash.h"
#include "shard/classes.h"

/* clips of this class are never mirrored */
enum { FLIP_MAP_NEVER = -1 };

struct flip_map { int classes, *to; };	/* [classes] the mirrored class,
					 * FLIP_MAP_NEVER, or the class itself
					 * */

/*
 * flip_map_parse(what, text, c, s):
 * Parse the table ${text} for the classes ${c} into ${*s}, which the caller
 * frees with flip_map_free.  Return 0, or -1 after a message naming ${what} and
 * the line: a class is unknown, or is listed twice.
 */
int flip_map_parse(const char *what, const char *text,
    const struct class_list *c, struct flip_map *s);
void flip_map_free(struct flip_map *s);		/* frees ${s->to}; ${*s} is all
						 * 0 */

/* flip_map_hash(s): return a hash of the mapping, for the run's identity. */
struct hash128 flip_map_hash(const struct flip_map *s);

/*
 * flip_map_class(s, flip, class):
 * Return the class of a clip of ${class}, mirrored if ${*flip}.  Set ${*flip}
 * to 0 if clips of this class are never mirrored.  A ${class} out of range is
 * returned unchanged.
 */
int flip_map_class(const struct flip_map *s, int *flip, int class);

/*
 * flip_map_set_of_classes(s, flip, share):
 * Do the same for a set of classes, share[s->classes], whose elements are 0 or
 * 1.
 */
void flip_map_set_of_classes(const struct flip_map *s, int *flip, float *share);

#endif
