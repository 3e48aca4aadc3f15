#ifndef BENCH_PREDICTION_H
#define BENCH_PREDICTION_H

/*
 * The simulation of a run on a cluster (bench/cluster.h), with one profile: of
 * all steps of a schedule, or of one step for each shape.
 */

#include "bench/cluster.h"
#include "bench/predict.h"

enum { PREDICTION_SEEDS = 20 };

/* A microbatch shape and batch of the schedule. */
struct prediction_phase {
	int batch;			/* clips; 0: one microbatch a rank */
	uint64_t steps;
	struct step_cell *cell;
	double part[CLUSTER_PARTS];	/* seconds of a step, mean of all
					 * seeds */
};

struct prediction {
	struct cluster cluster;
	struct step_profile *profile;
	struct prediction_phase *phase;
	size_t phases, cap;
	const struct wire *wire;
	struct step_lists lists;	/* of the algorithm and ranks at hand */
	double seconds[CLUSTER_SECONDS];
	struct figure step, rate, time;	/* seconds of a step, clips per second,
					 * seconds of the run; one value per
					 * seed */
	int failures;			/* of all seeds */
};

/*
 * prediction_open(p, o, profile):
 * Read the cluster of ${o} and the table ${profile}, and list the phases: those
 * of o->schedule, the shapes o->shapes, or all shapes of the profile if both
 * are NULL.  Return 0, or -1 after a message; prediction_close frees ${p} in
 * both cases.
 */
int prediction_open(struct prediction *p, const struct predict_options *o,
    const char *profile);
void prediction_close(struct prediction *p);

/*
 * prediction_simulate(p, name, ranks):
 * Simulate all seeds on ${ranks} ranks with the algorithm ${name}, and set
 * ${lists}, ${seconds}, the figures, ${failures} and the parts of the phases.
 * Return 0, or -1 after a message.
 */
int prediction_simulate(struct prediction *p, const char *name, int ranks);

/*
 * prediction_counts(p, o, count):
 * List the ranks to predict in ${count}[PREDICT_COUNTS]: those of ${o}, or
 * those of 1, 2, 4, ... hosts up to all.  Return their number, or -1 after a
 * message if a step has fewer microbatches than one of them, or than o->base.
 */
int prediction_counts(const struct prediction *p,
    const struct predict_options *o, int *count);

#endif
