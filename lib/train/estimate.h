#ifndef TRAIN_ESTIMATE_H
#define TRAIN_ESTIMATE_H

/*
 * The time of a run: measured on this machine before its first step, or taken
 * from the log of an earlier run.
 */

#include "train/trainer.h"

/* What is left of a run, from t->state.step to the end of the schedule. */
struct estimate {
	uint64_t steps;
	double training;		/* seconds of these steps */
	int validations;
	double validating;		/* seconds of all of them */
	int shapes;			/* that were timed; 0: from a log */
	char *log;			/* which; NULL: measured */
	double (*cell)[SCHEDULE_CYCLE];	/* [stages] seconds of a step */
};

/*
 * estimate_measure(t, cores, e):
 * Time two microbatches of each shape that is left, on made-up clips, and the
 * loading of as many; multiply.  ${cores}: processors that this rank has for
 * both.  The exchange between ranks, updates and checkpoints are not included.
 * The trainer is planned (trainer_plan) and not yet running; weights and
 * statistics stay as they are.  Not collective, but ranks of one host should
 * measure at the same time.
 * Return 0, or -1: after a message, or without one if a signal asks to stop.
 * estimate_free(e) in any case.
 */
int estimate_measure(struct trainer *t, int cores, struct estimate *e);

/* estimate_is_cheap(t): 1 if estimate_measure takes less than a hundredth of
 * what is left of the run, by multiply-adds. */
int estimate_is_cheap(const struct trainer *t);

/*
 * estimate_log(t, run, e):
 * The same from log.jsonl in the directory ${run}, of a run of the same
 * network, precision and number of ranks.
 * Return 1, or 0 without a message if the log does not have all that is left.
 * estimate_free(e) in any case.
 */
int estimate_log(const struct trainer *t, const char *run, struct estimate *e);

/* estimate_text(e, text): "about 12 min: 9 min of 1475 steps, ..." */
char *estimate_text(const struct estimate *e, char text[256]);

/* estimate_print(t, e, f): the same, and the time of a step of each shape. */
void estimate_print(const struct trainer *t, const struct estimate *e,
    FILE *f);

void estimate_free(struct estimate *e);

#endif
