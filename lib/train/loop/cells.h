#ifndef TRAIN_LOOP_CELLS_H
#define TRAIN_LOOP_CELLS_H

/*
 * The plan of a run as a table with a row for each cell of the schedule.
 * Memory, estimates and checks read its columns.
 */

#include <stdint.h>
#include <stdio.h>

#include "sched/parts.h"
#include "sched/schedule.h"

struct trainer;

struct planned_cell {
	int stage, cycle_position;	/* in the schedule */
	const struct cell *cell;
	struct step_split parts;	/* of a batch; if ranks share BN groups,
					 * each part of one is a microbatch */
	struct plan *plan;		/* of a microbatch */
	double macs;			/* forward multiply-adds of a step, over
					 * all ranks */
	uint64_t steps;			/* of the whole run */
	uint64_t left, next;		/* steps left, and the first of them:
					 * cells_seek */
	double seconds;			/* of a step: estimate_measure; 0:
					 * unknown */
};

/* The rows, in the order of the schedule. */
struct planned_cells { struct planned_cell *row; int n; };

/*
 * cells_plan(t):
 * Make ${t}->work->cells: plan a microbatch of each cell.  Return 0, or
 * EXIT_USAGE after a message.  cells_free frees the rows; the plans belong to
 * the net.
 */
int cells_plan(struct trainer *t);
void cells_free(struct planned_cells *c);

/*
 * cells_find(c, stage, cycle_position): return the row of a cell.
 * cells_of(t, at): return the row of the cell of step ${at}.
 */
struct planned_cell *cells_find(const struct planned_cells *c, int stage,
    int cycle_position);
const struct planned_cell *cells_of(const struct trainer *t,
    const struct schedule_step *at);

/* cells_seek(t): set the steps that are left from ${t}->state.step on. */
void cells_seek(struct trainer *t);

/* cells_print(t, f): print the table to ${f}. */
void cells_print(const struct trainer *t, FILE *f);

#endif
