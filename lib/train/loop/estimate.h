#ifndef TRAIN_LOOP_ESTIMATE_H
#define TRAIN_LOOP_ESTIMATE_H

/* Estimate the time of a run by a measurement on this machine. */

#include "train/loop/trainer.h"

/* The remaining run, from t->state.step to the end of the schedule. */
struct estimate {
	uint64_t steps;
	double training;		/* seconds of these steps */
	int validates;			/* 0: without a validation set,
					 * ${validations} are precise BN */
	int validations;
	double validating;		/* seconds of all validations */
	double fast, slow;		/* factors, around 1, of fast and slow
					 * steps among the timed ones */
};

/*
 * estimate_measure(t, cores, e):
 * Time at least five microbatches of each remaining shape on synthetic clips,
 * and the loading of five microbatches of real clips.  Multiply the median by
 * the remaining steps.  Set the seconds of ${t}->work->cells.  Computing and
 * loading share the ${cores} processors of
 * this rank.  Communication between ranks, updates and checkpoints are not
 * included.
 *
 * Call it between trainer_plan and trainer_run; weights and statistics do not
 * change.  It is not collective, but ranks of one host should measure at the
 * same time.
 *
 * Return 0, or -1: after a message, or without one if a signal requested a
 * stop.
 */
int estimate_measure(struct trainer *t, int cores, struct estimate *e);

/* estimate_is_cheap(t): return 1 if estimate_measure takes less than 2 % of the
 * multiply-adds of the remaining run. */
int estimate_is_cheap(struct trainer *t);

/* estimate_text(e, text): print to ${text} "about 12 min: 9 min for 1475 steps
 * and ...", or "8 to 15 min, ..." if times scatter.  Return ${text}. */
char *estimate_text(const struct estimate *e, char text[256]);

/* estimate_print(t, e, f): print that text and the time of a step of each shape
 * to ${f}. */
void estimate_print(const struct trainer *t, const struct estimate *e,
    FILE *f);

#endif
