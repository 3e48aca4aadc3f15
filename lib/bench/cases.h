#ifndef BENCH_CASES_H
#define BENCH_CASES_H

/*
 * What vt-bench measures.  Each function prints its rows, checks its answers
 * if b->check, and returns 0 or an exit status after a message; a wrong answer
 * is counted by bench_wrong and is no such status.
 */

#include "backend/backend.h"
#include "bench/bench.h"
#include "bench/shape.h"
#include "comm/comm.h"
#include "comm/wire.h"
#include "data/loader.h"
#include "shard/dataset.h"

/* Frames a second: of videos, and of the pictures of a packed set. */
struct decode_options {
	char **file;			/* videos */
	int files;
	const struct dataset *data;	/* NULL: no pictures */
	const struct shape_list *shapes;	/* only their sides matter */
	int images;			/* pictures that a run decodes */
	int short_side;			/* that videos are extracted at */
};
int bench_videos(struct bench *b, const struct decode_options *o);
int bench_pictures(struct bench *b, const struct decode_options *o);

/* The loader beside libjpeg-turbo alone. */
struct load_options {
	const struct dataset *data;
	const struct schedule *schedule;	/* NULL: the shapes */
	const struct shape_list *shapes;
	const struct loader_options *clips;	/* sampler, crop, effects, needs */
	const char *sheet;		/* NULL, or where clips are drawn */
};
/* The first clips of schedule ${s} as a contact sheet; an exit status. */
int bench_sheet(const struct dataset *d, const struct schedule *s,
    const struct loader_options *o, const char *path);
int bench_loader(struct bench *b, const struct load_options *o);

/* Operators alone, and whole steps of training. */
struct net_options {
	const struct graph *graph;
	struct device *device;
	const struct shape_list *shapes;
	const struct schedule *schedule;	/* of the cells */
	const struct dataset *data;	/* of the step; NULL: made-up clips */
	int kinds, convs;		/* of the step: bench/inside.h */
};
int bench_ops(struct bench *b, const struct net_options *o);
int bench_step(struct bench *b, const struct net_options *o);
/* Steps on the microbatches of a schedule, held against their nominal cost. */
int bench_cells(struct bench *b, const struct net_options *o);

/* Sums over ranks. */
struct sum_options {
	struct comm *comm;
	size_t min, max;		/* bytes of a vector */
	int factor;			/* from one size to the next */
	int microbatches;		/* of the exact sum; 0: one a rank */
	const char *const *name;	/* exact, or algorithms; else the exact */
	size_t names;			/* and the library's */
	const struct wire *wire;	/* of those */
	int hidden;			/* measure that, too */
	const char *tune;		/* a table to write; NULL: none */
};
/* bench_allreduce_check(name): -1: there is no such algorithm. */
int bench_allreduce_check(const char *name);
int bench_allreduce(struct bench *b, const struct sum_options *o);

#endif
