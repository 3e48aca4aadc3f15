#ifndef SHARD_LEVEL_H
#define SHARD_LEVEL_H

/*
 * Levels: streams of a sample that have the same frames at several sizes
 * (vt-shard(5), LEVELS).  Stream 0 is the largest and is untagged.  A stream
 * with the tag sN has frames with a short side of N pixels.
 */

#include "shard/sample.h"

/* The levels of a sample, in the order of their streams. */
struct level_list {
	int n;			/* at least 1 if stream 0 is untagged */
	struct {
		int stream;
		int side;	/* short side in pixels; 0: level 0, whose size
				 * is that of the sample */
	} level[STREAM_MAX];
};

#define LEVEL_SIDE_MAX 9999	/* tags have four digits at most */

/*
 * level_of_tag(tag):
 * Return N if ${tag} is sN, in 1 to LEVEL_SIDE_MAX without leading zeros.
 * Otherwise return 0.
 */
int level_of_tag(const char *tag);

/* level_list_of(l): Return the levels among the streams ${l}. */
struct level_list level_list_of(const struct stream_list *l);

/*
 * level_size(side, w, h, to_w, to_h):
 * Set ${*to_w} and ${*to_h} to the size of a level with a short side of ${side}
 * pixels, where the largest level has frames of ${w} x ${h}.  The long side is
 * the nearest even number.  Nothing is enlarged: frames with a short side of at
 * most ${side} keep their size, and ${side} 0 keeps it, too.
 */
void level_size(int side, int w, int h, int *to_w, int *to_h);

/*
 * level_even(v):
 * Return the even number nearest to ${v}, at least 2: 4:2:0 chroma has one
 * sample for two pixels.
 */
int level_even(double v);

#endif
