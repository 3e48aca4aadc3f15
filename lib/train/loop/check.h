#ifndef TRAIN_LOOP_CHECK_H
#define TRAIN_LOOP_CHECK_H

/* Plan a run without starting it, and check that it can start: --check of
 * vt-schedule(1). */

#include <stddef.h>
#include <stdio.h>

#include "sched/summary.h"
#include "train/loop/planned.h"
#include "train/settings.h"

struct check_options {
	struct settings set;		/* threads 0: share the cores */
	struct planned planned;		/* samples > 0: plan with this dataset,
					 * which messages call set.data */
	int ranks;			/* of the planned run */
	size_t memory;			/* limit of a rank in bytes; 0: none */
	int time;			/* also measure the time of the run
					 * (estimate.h) */
};

/*
 * check_schedule(o, f):
 * Plan the run of ${o}, as vt-train -n does.  Print to
 * ${f} a row for each cell of the schedule, and the memory of each rank.
 * Return 0, or an exit status after a message that names the broken rule.
 * Call it at most once in a process.
 */
int check_schedule(const struct check_options *o, FILE *f);

/*
 * check_network(model, cost):
 * Read network ${model}, and set ${*cost} to the cost of cells by its
 * multiply-adds.  Return the network, or NULL after a message.  The caller
 * frees it, after the last use of ${*cost}.
 */
struct graph *check_network(const char *model, struct cost *cost);

#endif
