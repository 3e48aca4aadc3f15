#ifndef TRAIN_LOOP_LIMIT_H
#define TRAIN_LOOP_LIMIT_H

/* Decide what limits the speed of a run, and print it once. */

#include <stddef.h>

#include "data/loader.h"

/* The costs of steps on one rank.  Times are sums, in seconds. */
struct limit_costs {
	double steps;			/* number of steps */
	double seconds, waited;		/* all time; waiting for clips */
	/* of loading the clips of this rank, summed over threads */
	double read, decode;		/* files; decoding and resizing */
	int threads, cores;		/* loader threads; cores of the rank */
};

enum limit_kind { LIMIT_COMPUTATION, LIMIT_DECODING, LIMIT_READING };

struct limit {
	enum limit_kind kind;
	double needs;			/* loader threads that would make no
					 * step wait */
	int has;			/* loader threads with a core each */
	double wait;			/* part of the time, 0 to 1 */
};

/*
 * limit_decide(c):
 * Return what limits steps of the costs ${c}.  The loader does if waiting for
 * clips takes more than 5 % of the time: reading, if it takes most of loading,
 * otherwise decoding.
 */
struct limit limit_decide(const struct limit_costs *c);

/*
 * limit_text(text, size, l, c, shape):
 * Write to ${text} what limits steps of ${shape}, such as 16x8x112.
 */
void limit_text(char *text, size_t size, const struct limit *l,
    const struct limit_costs *c, const char *shape);

/* A measurement of the steps after the first ones of a start. */
struct limit_watch {
	int steps;			/* since the start */
	double began, clips;		/* clock seconds; clips of all ranks */
	struct loader_stats first;
};

struct trainer;

/*
 * limit_count(t, stats):
 * Count a finished step, where ${stats} are those of this rank's loader.  After
 * 100 steps rank 0 prints a line and adds it to log.jsonl.
 */
void limit_count(struct trainer *t, struct loader_stats stats);

#endif
