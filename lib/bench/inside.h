#ifndef BENCH_INSIDE_H
#define BENCH_INSIDE_H

/* Where the time of a training step goes. */

#include "bench/bench.h"
#include "bench/rig.h"
#include "train/optim/optim.h"

struct inside_options {
	const char *prefix;		/* of the rows' names */
	double rate;			/* learning rate of the steps */
	int kinds;			/* by what became one task */
	int convs;			/* each convolution, also alone */
};

/*
 * inside_measure(b, r, optim, o):
 * Repeat steps with a clock around each task, and print
 * kinds: forward/KIND and backward/KIND, the seconds of all tasks of a kind;
 * what is fused is a kind of its own, as bn+relu; and other, the share of the
 * step that is not convolution.
 * convs: conv/NAME/inside, the seconds of both passes in the step; alone, those
 * after the step with operands out of cache; ratio, inside to alone run by run;
 * the sums of all, and the five of the largest ratio.
 * 0, or an exit status after a message.
 */
int inside_measure(struct bench *b, struct rig *r, struct optim *optim,
    const struct inside_options *o);

#endif
