#ifndef BENCH_PREDICT_H
#define BENCH_PREDICT_H

/*
 * The prediction of runs on a cluster (bench/cluster.h) from a profile: of all
 * steps of a schedule, or of one step for each shape.
 */

#include "base/options.h"
#include "bench/cluster.h"
#include "comm/wire.h"

enum { PREDICT_COUNTS = 32,		/* numbers of ranks */
	PREDICT_RANKS = 65536,		/* the largest of them */
	PREDICT_SEEDS = 20 };

struct predict_options {
	struct option_list profiles;	/* paths of tables of vt-bench profile;
					 * bench_predict reads the first */
	const char *links;		/* path of the cluster
					 * (bench/cluster.h) */
	struct option_list settings;	/* "NAME=VALUE", which override it */
	int64_t hosts, ranks_per_host;	/* 0: those of the cluster */
	const struct schedule *schedule;	/* NULL: ${shapes}, one
						 * microbatch a rank */
	const struct shape_list *shapes;	/* NULL: all of the profile */
	int64_t samples;		/* of an epoch of the schedule */
	const char *const *name;	/* "exact" or names of algorithms */
	size_t names;			/* at least 1 */
	const struct wire *wire;
	int ranks[PREDICT_COUNTS];	/* [counts] to predict */
	int counts;			/* 0: 1, 2, 4, ... hosts */
	int64_t base;			/* ranks that efficiency refers to */
	double price;			/* of a rank and hour; 0: unknown */
	const char *plot;		/* path of a picture, or NULL */
};

/*
 * bench_predict(b, o):
 * Predict the run for each algorithm and number of ranks.
 *
 * bench_guidelines(b, o):
 * Compare the networks of o->profiles: their sizes, what limits them on each
 * number of ranks, and what each choice of another network would change in the
 * first (bench/guidelines.c).
 *
 * bench_count(b, o, elements):
 * Print messages, bytes and longest chain of messages of a step with
 * ${elements} gradients for each algorithm and number of ranks of ${o}.
 *
 * All return 0, or an exit status after a message.
 */
int bench_predict(struct bench *b, const struct predict_options *o);
int bench_guidelines(struct bench *b, const struct predict_options *o);
int bench_count(struct bench *b, const struct predict_options *o,
    size_t elements);

/* A microbatch shape and batch of the schedule. */
struct predict_phase {
	int batch;			/* clips; 0: one microbatch a rank */
	uint64_t steps;
	struct step_cell *cell;
	double part[CLUSTER_PARTS];	/* seconds of a step, mean of all
					 * seeds */
};

/* A prediction, and the results of one algorithm and number of ranks. */
struct predict {
	struct bench *b;
	const struct predict_options *o;
	struct cluster cluster;
	struct step_profile *profile;
	struct predict_phase *phase;
	size_t phases, cap;
	int ranks[1 + PREDICT_COUNTS], counts;	/* the base, and those to
						 * predict */
	struct step_lists lists;
	double seconds[CLUSTER_SECONDS];
	struct figure step, rate, time;	/* seconds of a step, clips per second,
					 * seconds of the run; one value per
					 * seed */
	int failures;			/* of all seeds */
	double base;			/* clips per second and rank of the
					 * base */
	char prefix[256];		/* of the names of its rows */
};

/*
 * predict_open(p, b, o, profile):
 * Read the cluster of ${o} and the table ${profile}; list the phases, those of
 * o->schedule, the shapes o->shapes, or all shapes of the profile if both are
 * NULL; and list the ranks, those of ${o}, or those of 1, 2, 4, ... hosts up to
 * all.  Return 0, or -1 after a message, also if a step has fewer microbatches
 * than ranks; predict_close frees ${p} in both cases.
 */
int predict_open(struct predict *p, struct bench *b,
    const struct predict_options *o, const char *profile);
void predict_close(struct predict *p);

/*
 * predict_walk(p, prefix, name, print, arg):
 * Simulate all seeds with the algorithm ${name} on each number of ranks, and
 * call ${print}(p, ${arg}) with the results in ${p}.  The prefix of its rows is
 * ${prefix}/NAME/RANKS.  Return 0, or -1 after a message.
 */
int predict_walk(struct predict *p, const char *prefix, const char *name,
    void (*print)(struct predict *p, void *arg), void *arg);

/* predict_efficiency(p, rate): Return ${rate} relative to the base. */
double predict_efficiency(const struct predict *p, double rate);

#endif
