#ifndef TRAIN_LOOP_TRAINER_H
#define TRAIN_LOOP_TRAINER_H

/*
 * Train the steps of a schedule, in order, on all ranks.
 *
 * In a step, each rank runs the forward and backward passes of its
 * microbatches.  The gradients of all microbatches are summed in a fixed order
 * while the last backward pass still runs: each rank sums those of the
 * parameters it owns.  It then updates these parameters and gathers the others
 * from their owners.  At the step boundary the ranks agree on whether to stop,
 * to save or to validate.
 */

#include <stdio.h>

#include "comm/comm.h"
#include "data/loader.h"
#include "net/net.h"
#include "sched/schedule.h"
#include "train/loop/evaluator.h"
#include "train/optim/optim.h"
#include "train/reduce/bucket.h"
#include "train/run/checkpoint.h"
#include "train/run/rundir.h"
#include "train/settings.h"

struct replay;

enum { BEST_NONE = METRICS };		/* keep no best checkpoint */

/* The parts of a run.  The caller owns what the pointers refer to. */
struct trainer {
	struct settings o;
	int cores;			/* of this rank */
	int best;			/* METRIC_* of --keep-best, or
					 * BEST_NONE */
	struct comm *comm;
	struct net *net;
	struct sums sums;		/* of gradients */
	struct segments share;		/* owner of each parameter */
	struct optim optim;
	struct schedule *schedule;
	struct dataset *train, *val;	/* val: NULL if absent */
	struct loader_options loading;
	struct view_options viewing;	/* the fixed shape of validation */
	struct rundir *run;		/* rank 0 only; elsewhere NULL */
	uint64_t safe_step;		/* step of a complete checkpoint in
					 * ${run}, the same on all ranks; 0:
					 * none */
	struct state state;		/* content of the next checkpoint; the
					 * trainer updates step, clips, epoch,
					 * loss, best and history */
	const char *best_metric;	/* name of o.best */
	struct replay *replay;		/* compare with its checkpoints, and
					 * save nothing; NULL: train */
	FILE *out;			/* the log as a table; NULL: none */

	struct trainer_work *work;	/* private */
};

/*
 * trainer_plan(t):
 * Plan every shape of the schedule and of validations.  trainer_open allocates
 * the buffers.  Return 0, or an exit status after a message.
 */
int trainer_plan(struct trainer *t);

/*
 * trainer_check_ranks(t, step):
 * Check that these ranks can share every batch of the schedule, starting with
 * the stage of ${step}.  Earlier stages may have run on other ranks.
 * Return 0, or EXIT_USAGE after a message.
 */
int trainer_check_ranks(const struct trainer *t, uint64_t step);

/* trainer_print_plan(t, f): print a row for each cell of the schedule, then the
 * totals. */
void trainer_print_plan(const struct trainer *t, FILE *f);

/* trainer_print_totals(t, f): print the totals of the run and the memory of its
 * ranks, as comment lines of a table. */
void trainer_print_totals(const struct trainer *t, FILE *f);

/* trainer_explain(t, f): print the operators of the most expensive shape, their
 * fusion and their algorithms. */
void trainer_explain(const struct trainer *t, FILE *f);

/*
 * trainer_open(t): allocate the buffers, and start loader and threads.  Then a
 * signal no longer ends the ranks at once, but requests a stop (comm/watch.h).
 * Return 0, or an exit status that is the same on all ranks: EXIT_AGAIN after a
 * note if a signal has come.  Collective: all ranks call it.
 */
int trainer_open(struct trainer *t);

/*
 * trainer_run(t):
 * After trainer_open and after ${t}->run is set, train from ${t}->state.step to
 * the end of the schedule.  Return an exit status that is the same on all
 * ranks:
 *
 *	0	done
 *	3	done; damaged samples were replaced
 *	75	stopped, with the state saved
 *	5	diverged
 *	4	damaged data, or a replayed checkpoint differs
 *	1, 6	failed; ranks differ or are lost
 *
 * Before an early end, save the state of the last step boundary if it is
 * finite.  If a rank cannot load its clips, it still takes part in the
 * reduction, so that all ranks reach that boundary.  If communication fails,
 * abort all ranks.  Collective: all ranks call it.
 */
int trainer_run(struct trainer *t);

/* trainer_close(t): stop the threads of ${t} and free its buffers.  The plans
 * belong to its net.  Do nothing if ${t} was not planned. */
void trainer_close(struct trainer *t);

#endif
