#ifndef BENCH_PREDICT_H
#define BENCH_PREDICT_H

/* The prediction of whole runs on a cluster, vt-bench cluster. */

#include "bench/bench.h"
#include "bench/shape.h"
#include "comm/wire.h"

enum { PREDICT_COUNTS = 32,		/* numbers of ranks */
	PREDICT_RANKS = 65536 };	/* the largest of them */

struct predict_options {
	const char *const *profile;	/* [profiles] paths of tables of
					 * vt-bench profile; bench_predict reads
					 * the first */
	size_t profiles;
	const char *links;		/* path of the cluster
					 * (bench/cluster.h) */
	const char *const *setting;	/* [settings] "NAME=VALUE", which
					 * override it */
	size_t settings;
	int hosts, ranks_per_host;	/* 0: those of the cluster */
	const struct schedule *schedule;	/* NULL: ${shapes}, one
						 * microbatch a rank */
	const struct shape_list *shapes;	/* NULL: all of the profile */
	uint64_t samples;		/* of an epoch of the schedule */
	const char *const *name;	/* "exact" or names of algorithms */
	size_t names;			/* at least 1 */
	const struct wire *wire;
	const int *ranks;		/* [counts] to predict */
	int counts;			/* at most PREDICT_COUNTS; 0: 1, 2, 4,
					 * ... hosts */
	int base;			/* ranks that efficiency refers to */
	double price;			/* of a rank and hour; 0: unknown */
	const char *plot;		/* path of a picture, or NULL */
};

/* A point of the picture: quantiles 0.1, 0.5 and 0.9. */
struct predict_curve { double efficiency[3], time[3]; };

/*
 * bench_predict(b, o):
 * Predict the run for each algorithm and number of ranks.  Return 0, or an exit
 * status after a message.
 */
int bench_predict(struct bench *b, const struct predict_options *o);

/*
 * bench_guidelines(b, o):
 * Compare the networks of o->profile: their sizes, what limits them on each
 * number of ranks, and what each choice of another network would change in the
 * first (bench/guidelines.c).  Return 0, or an exit status after a message.
 */
int bench_guidelines(struct bench *b, const struct predict_options *o);

/*
 * predict_plot(o, spreads, count, n, curve):
 * Draw efficiency and time of ${curve}[o->names][n] over ${count}[n] ranks to
 * o->plot, and their quantiles if ${spreads} is 1.  Return 0, or -1 after a
 * message.
 */
int predict_plot(const struct predict_options *o, int spreads,
    const int *count, int n, const struct predict_curve *curve);

#endif
