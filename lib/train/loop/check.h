#ifndef TRAIN_LOOP_CHECK_H
#define TRAIN_LOOP_CHECK_H

/* The whole plan of a run that nobody has started, or why it cannot be. */

#include <stddef.h>
#include <stdio.h>

#include "backend/backend.h"
#include "sched/compare.h"

struct check_options {
	const char *schedule, *model, *data, *device;
	enum precision precision;
	int ranks;			/* of the run */
	int deterministic;		/* EXACT or FAST (train/reduce/sums.h) */
	int threads;			/* of a rank; 0: its share of the cores */
	size_t memory;			/* bytes of a rank; 0: any */
	int momentum;			/* was set, so a schedule may not say it */
	int time;			/* measure the time of the run
					 * (estimate.h) */
};

/*
 * check_schedule(o, f):
 * Plan such a run as vt-train -n does, with its defaults, and print a row for
 * each cell to ${f}, and the memory of a rank.  0, or an exit status after a
 * message that says which rule is broken.
 */
int check_schedule(const struct check_options *o, FILE *f);

/*
 * check_network(model, cost): the network, the caller's to free, and the cost of
 * cells by its multiply-adds; NULL after a message.
 */
struct graph *check_network(const char *model, struct cost *cost);

#endif
