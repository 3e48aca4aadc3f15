#ifndef TRAIN_LOOP_CELLS_H
#define TRAIN_LOOP_CELLS_H

/*
 * The plan of a run as a table with a row for each cell of the schedule, and
 * for the passes of a validation.  Memory, estimates and checks read its
 * columns.
 */

#include <stdint.h>
#include <stdio.h>

#include "sched/group.h"
#include "sched/schedule.h"

struct trainer;

enum planned_kind {
	PLANNED_CELL,
	/* The rows of a validation, whose steps are forward passes of a rank:
	 * over views, and over groups to measure statistics (--precise-bn). */
	PLANNED_VIEWS, PLANNED_STATISTICS
};

struct planned_cell {
	enum planned_kind kind;
	int stage, cycle_position;	/* in the schedule */
	const struct cell *cell;
	struct step_split parts;	/* of a batch; if ranks share BN groups,
					 * each part of one is a microbatch */
	struct plan *plan;		/* of a microbatch */
	double macs;			/* forward multiply-adds of a step, over
					 * all ranks */
	uint64_t steps;			/* of the whole run */
	uint64_t left, next;		/* steps left, and the first of them:
					 * cells_seek.  Statistics: next is the
					 * last step, which has their shape */
	double seconds;			/* of a step: estimate_measure; 0:
					 * unknown */
	size_t loader;			/* bytes of a loader of its own; 0: that
					 * of the run */
};

/* ${n} cells in the order of the schedule, and the rows of a validation. */
struct planned_cells { struct planned_cell *row; int n, all; };

/*
 * cells_plan(t):
 * Make ${t}->work->cells: plan a microbatch of each cell.  Return 0, or
 * EXIT_USAGE after a message.  cells_free frees the rows; the plans belong to
 * the net.
 */
int cells_plan(struct trainer *t);

/* cells_add_validation(t): add the rows of a validation, whose plans and
 * ${t}->work->measure.precise exist. */
void cells_add_validation(struct trainer *t);

void cells_free(struct planned_cells *c);

/*
 * cells_find(c, stage, cycle_position): return the row of a cell.
 * cells_of(t, at): return the row of the cell of step ${at}.
 */
struct planned_cell *cells_find(const struct planned_cells *c, int stage,
    int cycle_position);
const struct planned_cell *cells_of(const struct trainer *t,
    const struct schedule_step *at);

/* cells_seek(t): set the steps that are left from ${t}->state.step on.
 * cells_validations(t): return the number of validations left. */
void cells_seek(struct trainer *t);
int cells_validations(const struct trainer *t);

/* cells_print(t, f): print the table to ${f}. */
void cells_print(const struct trainer *t, FILE *f);

#endif
