#ifndef BENCH_STEP_PROFILE_H
#define BENCH_STEP_PROFILE_H

/*
 * The profile of the training steps of one rank, on which a prediction for
 * thousands of ranks is based (bench/cluster.h).  It is the table of vt-bench
 * profile, vt-prediction(7).
 */

#include <stdint.h>

#include "bench/shape.h"

/* The gradients of a parameter, or running statistics.  Ranks sum both. */
struct step_gradient {
	size_t elements;
	double ready;			/* seconds from the start of the
					 * backward pass; 0 or more */
};

/* Quantiles of the time of a step. */
enum step_quantile { STEP_MIN, STEP_MEDIAN, STEP_P90, STEP_P99,
	STEP_QUANTILES };

/* A microbatch shape. */
struct step_cell {
	struct bench_shape shape;
	double forward, backward, update;	/* seconds */
	double step[STEP_QUANTILES];	/* seconds */
	double flops;			/* of a clip, forward */
	double loader;			/* clips per second and core; 0:
					 * unknown */
	struct step_gradient *gradient;	/* [gradients] in backward order */
	size_t gradients, cap;
	size_t parameters;		/* elements without statistics */
};

struct step_profile {
	char *path;			/* for messages */
	char net[80];			/* name of the network */
	struct step_cell *cell;
	size_t cells, cap;
	size_t elements;		/* of all gradients and statistics */
	size_t parameters;		/* without statistics */
};

/*
 * step_profile_read(path):
 * Read the table of vt-bench profile.  Return NULL after a message if it is
 * incomplete.  The caller frees it by step_profile_free, which accepts NULL.
 */
struct step_profile *step_profile_read(const char *path);
void step_profile_free(struct step_profile *p);

/*
 * step_profile_cell(p, s): return the cell of shape ${s}, or NULL after a
 * message.
 */
struct step_cell *step_profile_cell(struct step_profile *p,
    const struct bench_shape *s);

#endif
