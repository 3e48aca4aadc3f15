#ifndef DATA_LOADER_H
#define DATA_LOADER_H

/*
 * The loader turns step numbers into pixels.  It gives this rank's leaves
 * (groups of clips that share BN statistics), one after the other, in order;
 * threads read, decode, crop and resize ahead of the trainer, across changes
 * of shape, because the schedule says what comes.  What a clip shows is a
 * function of (seed, global clip number), so nothing depends on the number of
 * threads or ranks, and the loader's whole state is the step.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "data/augment.h"
#include "data/clip.h"
#include "sched/schedule.h"
#include "shard/dataset.h"

/* A leaf: n clips, ready for the network. */
struct leaf {
	struct schedule_step at;	/* the step it belongs to */
	int index, leaves;		/* which leaf of how many in the step */
	int n, t, h, w;
	uint8_t *pixels;		/* [n][t][h][w][3], RGB */
	int *label;			/* [n] */
	uint64_t *clip;			/* [n] global clip numbers */
	uint32_t *sample;		/* [n] */
};

struct loader_options {
	uint64_t seed;
	int threads;
	int rank, ranks;
	enum sampler sampler;
	enum crop_rule crop;
	int flip;			/* mirror half of the clips */
	size_t memory;			/* bytes of pixels ahead, at most */
	FILE *trace;			/* NULL, or where each clip is listed */
};

struct loader;

/*
 * loader_new(d, s, from, o):
 * Read data set ${d} by schedule ${s} from step ${from} on; both stay the
 * caller's and must outlive the loader.  Dies only of memory.
 */
struct loader *loader_new(const struct dataset *d, const struct schedule *s,
    uint64_t from, const struct loader_options *o);
void loader_free(struct loader *l);

/*
 * loader_next(l, leaf): the next leaf; it is the trainer's until
 * loader_return.  1, 0 at the end of the schedule, -1 after a message: I/O,
 * -2: data damaged (the message names shard and key).
 */
int loader_next(struct loader *l, struct leaf **leaf);
void loader_return(struct loader *l, struct leaf *leaf);

/* rank_leaves(leaves, rank, ranks, first): how many leaves of a step ${rank}
 * owns, from ${*first}: floor(L r / P) to floor(L (r + 1) / P) - 1. */
int rank_leaves(int leaves, int rank, int ranks, int *first);

/*
 * The same for testing: views of samples instead of steps.  A view is one
 * clip and one crop of a sample; views of a sample follow each other, and
 * leaves of ${n} views are given until ${count} samples are through, the last
 * one filled up with repeats (label -1).
 */
struct view_options {
	int threads;
	enum sampler sampler;
	int validate;		/* clip_validate instead of clip_test */
	int clips, crops, full;
	int n, t, side;		/* shape of a leaf */
	size_t memory;
};

struct loader *loader_views(const struct dataset *d, uint32_t first,
    uint32_t count, const struct view_options *o);

#endif
