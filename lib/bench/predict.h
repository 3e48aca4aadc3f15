#ifndef BENCH_PREDICT_H
#define BENCH_PREDICT_H

/*
 * The prediction of runs on a cluster (bench/cluster.h) from a profile: of all
 * steps of a schedule, or of one step for each shape.
 */

#include "bench/cluster.h"
#include "comm/wire.h"

struct bench_inputs;

enum { PREDICT_COUNTS = 32,		/* numbers of ranks */
	PREDICT_RANKS = 65536,		/* the largest of them */
	PREDICT_SEEDS = 20 };

struct predict_options {
	struct option_list profiles;	/* paths of tables of vt-bench
					 * profile */
	const char *links;		/* path of the cluster
					 * (bench/cluster.h) */
	struct option_list settings;	/* "NAME=VALUE", which override it */
	int64_t hosts, ranks_per_host;	/* 0: those of the cluster */
	int64_t samples;		/* of an epoch of the schedule */
	const char *const *name;	/* "exact" or names of algorithms */
	size_t names;			/* at least 1 */
	int ranks[PREDICT_COUNTS];	/* [counts] to predict */
	int counts;			/* 0: 1, 2, 4, ... hosts */
	int64_t base;			/* ranks that efficiency refers to */
	double price;			/* of a rank and hour; 0: unknown */
	const char *plot;		/* path of a picture, or NULL */
};

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
	const struct bench_inputs *in;
	const struct predict_options *o;	/* of ${in} */
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
 * predict_open(p, b, in, profile):
 * Read the cluster of in->predict and the table ${profile}; list the phases,
 * those of in->schedule, the shapes in->shapes with one microbatch a rank, or
 * all shapes of the profile if there are none; and list the ranks, those of
 * in->predict, or those of 1, 2, 4, ... hosts up to all.  Return 0, or -1 after
 * a message, also if a step has fewer microbatches than ranks; predict_close
 * frees ${p} in both cases.
 */
int predict_open(struct predict *p, struct bench *b,
    const struct bench_inputs *in, const char *profile);
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
