#ifndef SHARD_DESCRIBE_H
#define SHARD_DESCRIBE_H

/* Description of one or two sets: their classes, and the videos that occur
 * twice. */

#include <stddef.h>
#include <stdio.h>

#include "base/mem.h"

enum { DESCRIBE_SETS = 2 };

/* Numbers of a description, for a summary. */
struct describe_report {
	size_t classes;
	size_t lacking;		/* classes without a sample in one of the
				 * sets, or in the only one */
	struct buffer names;	/* the first of these, for a message */
	size_t pairs;		/* pairs of samples from one video */
	size_t near;		/* pairs of samples that look alike */
	size_t shared;		/* pairs of samples of two sets, from one
				 * video */
	size_t near_shared;	/* pairs of samples of two sets that look
				 * alike */
	size_t contradicting;	/* pairs with different labels, without those
				 * of different parts of a video */
};

/*
 * describe(dir, sets, f, r):
 * Read KEY.json of all samples of the ${sets} sets ${dir}, 1 or DESCRIBE_SETS.
 * Print a table of their classes to ${f}, without those that have no sample in
 * any set, then a table of pairs of samples, those with different labels
 * first.  Both samples are from one video, by the hash of its file, or look
 * alike: their perceptual hashes (media/phash.h) differ in at most NEAR_MAX
 * bits.  A video of n samples has n - 1 pairs, each with its first sample; so
 * have n samples of one perceptual hash.  Set ${*r}, whose names the caller
 * frees.  Return 0, or after a message -1 on an I/O error, -2 if something is
 * damaged.  Write errors of ${f} are not reported.
 */
int describe(const char *const *dir, int sets, FILE *f,
    struct describe_report *r);

#endif
