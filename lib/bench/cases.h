#ifndef BENCH_CASES_H
#define BENCH_CASES_H

/*
 * The cases of vt-bench.  Each function prints its rows and, if b->check is
 * set, checks its results.  It returns 0, or an exit status after a message.  A
 * wrong result is counted by bench_wrong and is not an exit status.
 */

#include "backend/backend.h"
#include "bench/bench.h"
#include "bench/shape.h"
#include "comm/comm.h"
#include "comm/wire.h"
#include "data/loader.h"
#include "shard/dataset.h"

/* Decoding speed of videos, and of the frames of a packed set. */
struct decode_options {
	char **file;			/* paths of videos */
	int files;
	const struct dataset *data;	/* NULL: no packed set */
	const struct shape_list *shapes;	/* only their sides are used */
	int images;			/* frames that a run decodes */
	int short_side;			/* stored short side of videos, in
					 * pixels */
};

/* bench_videos(b, o): Measure decoding and extraction of each video of ${o}. */
int bench_videos(struct bench *b, const struct decode_options *o);

/*
 * bench_pictures(b, o):
 * Measure JPEG decoding of whole frames of the packed set, and of training
 * crops for each side.
 */
int bench_pictures(struct bench *b, const struct decode_options *o);

/* The loader, compared with libjpeg-turbo alone. */
struct load_options {
	const struct dataset *data;
	const struct schedule *schedule;	/* NULL: use ${shapes} */
	const struct shape_list *shapes;
	const struct loader_options *clips;	/* sampler, crop, effects, input
						 * spec */
	const char *sheet;		/* path of a contact sheet of clips, or
					 * NULL */
};
/*
 * bench_sheet(d, s, o, path):
 * Draw the first clips of schedule ${s} as a contact sheet.
 */
int bench_sheet(const struct dataset *d, const struct schedule *s,
    const struct loader_options *o, const char *path);

/*
 * bench_loader(b, o):
 * Measure the loader on each shape, or on each stage of the schedule.
 */
int bench_loader(struct bench *b, const struct load_options *o);

/* Single operators, and whole training steps. */
struct net_options {
	const struct graph *graph;
	struct device *device;
	const struct shape_list *shapes;
	const struct schedule *schedule;	/* its cells (bench_cells) */
	const struct dataset *data;	/* for steps; NULL: synthetic clips */
	int kinds, convs;		/* for steps: profile
					 * (bench/profile.h) */
};

/*
 * bench_ops(b, o):
 * Measure each distinct operator of the network at each shape.
 */
int bench_ops(struct bench *b, const struct net_options *o);

/* bench_step(b, o): Measure whole training steps at each shape. */
int bench_step(struct bench *b, const struct net_options *o);
/*
 * bench_cells(b, o):
 * Measure steps on the microbatches of a schedule, and compare them with their
 * nominal cost.
 */
int bench_cells(struct bench *b, const struct net_options *o);

/* All-reduce over ranks. */
struct sum_options {
	struct comm *comm;
	size_t min, max;		/* bytes of the smallest and largest
					 * vector */
	int factor;			/* ratio of consecutive sizes */
	int microbatches;		/* of the exact sum; 0: one per rank */
	const char *const *name;	/* "exact" or names of algorithms */
	size_t names;			/* 0: exact and the library's own */
	const struct wire *wire;	/* communication dtype of the
					 * algorithms */
	int overlap;			/* 1: also measure overlap
					 * (bench/overlap.h) */
	const char *tune;		/* path of a tuning table to write;
					 * NULL: none */
};
/*
 * bench_allreduce_check(name):
 * Return 0 if ${name} is "exact" or a known algorithm, otherwise -1 without a
 * message.
 */
int bench_allreduce_check(const char *name);

/*
 * bench_allreduce(b, o):
 * Measure all-reduce for each size and algorithm.  Collective: all ranks call
 * it.
 */
int bench_allreduce(struct bench *b, const struct sum_options *o);

/*
 * bench_links(b, c):
 * Measure latency and bandwidth between ranks of the first host, and between
 * the first two hosts.  Return 0, or an exit status after a message.
 * Collective: all ranks call it.
 */
int bench_links(struct bench *b, struct comm *c);

#endif
