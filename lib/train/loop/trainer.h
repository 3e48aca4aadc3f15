#ifndef TRAIN_LOOP_TRAINER_H
#define TRAIN_LOOP_TRAINER_H

/*
 * Training: the steps of a schedule, one after the other, on all ranks.
 *
 * A step runs this rank's microbatches forward and backward, adds their
 * gradients over all microbatches in a fixed order while the last one's
 * backward pass still runs, each rank those of the parameters it owns, updates
 * these, and has the others' from their owners.  At its border the ranks agree
 * on whether to stop, to save or to evaluate.
 */

#include <stdio.h>

#include "comm/comm.h"
#include "data/loader.h"
#include "net/net.h"
#include "sched/schedule.h"
#include "train/learn/learner_settings.h"
#include "train/loop/evaluator.h"
#include "train/modes.h"
#include "train/optim/optim.h"
#include "train/reduce/bucket.h"
#include "train/reduce/sums.h"
#include "train/run/checkpoint.h"
#include "train/run/rundir.h"

struct replay;

enum keep_best { BEST_NONE, BEST_TOP1, BEST_LOSS, BEST_MAP };

struct trainer_options {
	double save_every;		/* seconds; 0: never by the clock */
	int64_t save_steps;		/* steps; 0: never by steps */
	int validates;			/* or the run that is replayed did */
	double val_every;		/* epochs; 0: at the end only */
	int64_t precise;		/* clips to measure statistics on before
					 * a validation, or PRECISE_AUTO
					 * (train/loop/precise.h), or 0 */
	enum keep_best best;
	int64_t log_every;		/* steps between lines of the log */
	double stop_after;		/* seconds; 0: never */
	double max_loss;		/* beyond it the run has diverged; 0: any */
	int use_ema;			/* validate the average of the weights */
	struct learner_settings learners;
	double corrupt;			/* of the samples may be damaged; below
					 * 0: a damaged one ends the run */
	int64_t skips;			/* steps that may be skipped since they
					 * are not finite */
	int audit_report;		/* go on although an audit failed */
};

/* Everything a run is made of; the caller owns what the pointers show. */
struct trainer {
	struct trainer_options o;
	struct modes modes;		/* of options, device and ranks */
	struct comm *comm;
	struct net *net;
	struct sums sums;		/* of gradients */
	struct segments share;		/* who updates which parameters */
	struct optim optim;
	const struct schedule *schedule;
	const struct dataset *train, *val;	/* val may be NULL */
	struct loader_options loading;
	struct view_options viewing;	/* the fixed shape of validation */
	struct rundir *run;		/* rank 0 only; elsewhere NULL */
	uint64_t safe_step;		/* ${run} has the checkpoint of this
					 * step, and it is whole; 0: none;
					 * known to all ranks */
	struct state state;		/* what a checkpoint says; step, clips,
					 * epoch, loss, best and history are
					 * kept here */
	struct replay *replay;		/* what is compared, and nothing saved;
					 * NULL: an ordinary run */
	FILE *out;			/* the log as a table; NULL: none */

	struct trainer_work *work;	/* private */
};

/*
 * trainer_plan(t): plan every shape of the schedule.  0, or an exit status after
 * a message.
 */
int trainer_plan(struct trainer *t);

/*
 * trainer_shares(t, step): can these ranks share every batch from ${step} on?
 * Those before it were others' affair.  0, or EXIT_USAGE after a message.
 */
int trainer_shares(const struct trainer *t, uint64_t step);

/* trainer_print_plan(t, f): what trainer_plan found, for people. */
void trainer_print_plan(const struct trainer *t, FILE *f);

/* trainer_print_totals(t, f): of the whole run, and its memory; less the rows. */
void trainer_print_totals(const struct trainer *t, FILE *f);

/* trainer_explain(t, f): the operators of the largest shape, what was fused
 * into what, and the algorithms. */
void trainer_explain(const struct trainer *t, FILE *f);

/*
 * trainer_run(t): train from t->state.step to the end of the schedule.  Return
 * the exit status: 0 done, 3 done without damaged samples, 75 stopped with state saved, 5 diverged, 4 damaged
 * data, 1 failed; the same on every rank.  Whatever the reason to end, what
 * the last step border holds is saved first, if it is finite.  A rank whose
 * clips cannot be loaded takes part in the step's exchange, so that all reach
 * that border; one whose exchange fails aborts all ranks.
 */
int trainer_run(struct trainer *t);
void trainer_close(struct trainer *t);

#endif
