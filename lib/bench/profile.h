#ifndef BENCH_PROFILE_H
#define BENCH_PROFILE_H

/* A profile of training steps, per operator. */

#include "bench/bench.h"
#include "bench/fixture.h"

struct profile_options {
	const char *prefix;		/* prefix of row names */
	int kinds;			/* 1: by kind of task */
	int convs;			/* 1: time each convolution in the step,
					 * and alone after it */
};

/*
 * profile_measure(b, r, o):
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
int profile_measure(struct bench *b, struct fixture *r,
    const struct profile_options *o);

/*
 * profile_tasks(r, seconds):
 * Run a whole step and time each task, with a device synchronization after
 * each.  Write the seconds of task i to seconds[0][i] of the forward pass and
 * seconds[1][i] of the backward pass; 0 if it is fused into another.
 *
 * profile_step(b, r, name, seconds):
 * Run a whole step.  Write the seconds of both passes and those of the update
 * to seconds[2].  Return 0, or EXIT_FAILED if results are checked and it has
 * diverged: a wrong result of ${name}.
 */
void profile_tasks(struct fixture *r, double *seconds[2]);
int profile_step(struct bench *b, struct fixture *r, const char *name,
    double seconds[2]);

#endif
