#ifndef BENCH_PROFILE_H
#define BENCH_PROFILE_H

/* A profile of training steps, per operator. */

#include "bench/bench.h"
#include "bench/fixture.h"
#include "train/optim/optim.h"

struct profile_options {
	const char *prefix;		/* prefix of row names */
	double rate;			/* learning rate of the steps */
	int kinds;			/* 1: by kind of task */
	int convs;			/* 1: time each convolution in the step,
					 * and alone after it */
};

/*
 * profile_measure(b, r, optim, o):
 * Repeat steps with a timer around each task, and print these rows.
 *
 * With ${kinds}: forward/KIND and backward/KIND, the seconds of all tasks of a
 * kind; fused operators form one kind, such as bn+relu.  other: the share of
 * the step that is not convolution.
 *
 * With ${convs}: conv/NAME/inside, the seconds of both passes within the step;
 * alone, the seconds of both passes after the step with operands evicted from
 * the caches; ratio, inside to alone, run by run.  Also the sums over all
 * convolutions, and the five largest ratios.
 *
 * Return 0, or an exit status after a message.
 */
int profile_measure(struct bench *b, struct fixture *r, struct optim *optim,
    const struct profile_options *o);

/*
 * profile_tasks(r, optim, rate, seconds):
 * Run a whole step with learning rate ${rate} and time each task, with a device
 * synchronization after each.  Write the seconds of task i to seconds[0][i] of
 * the forward pass and seconds[1][i] of the backward pass; 0 if it is fused
 * into another.
 */
void profile_tasks(struct fixture *r, struct optim *optim, double rate,
    double *seconds[2]);

#endif
