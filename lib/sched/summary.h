#ifndef SCHED_SUMMARY_H
#define SCHED_SUMMARY_H

/* What a schedule amounts to, for people. */

#include "base/mem.h"
#include "sched/schedule.h"

/* stage_batch(g): clips a step, on average over the short cycle. */
double stage_batch(const struct stage *g);

/*
 * The cost of the forward pass of a clip of a cell, in any unit: cell_cost, or
 * the multiply-adds of a network.
 */
struct cost {
	double (*of)(const struct cell *c, void *arg);
	void *arg;
	const char *unit;		/* in words */
};

/* cost_input: frames * crop * crop. */
extern const struct cost cost_input;

/* stage_cost(g, cost): the cost of a clip, on average over those of an epoch. */
double stage_cost(const struct stage *g, const struct cost *cost);

/* schedule_cost(s, cost): the sum over all stages of epochs * stage_cost. */
double schedule_cost(const struct schedule *s, const struct cost *cost);

/* schedule_largest(s, cost): the most expensive cell; of equals, the last. */
const struct cell *schedule_largest(const struct schedule *s,
    const struct cost *cost);

/*
 * schedule_work(s):
 * Its work in epochs at the shape of schedule_largest: schedule_cost divided by
 * that cell's cost, both of cost_input.
 */
double schedule_work(const struct schedule *s);

/*
 * schedule_frames_share(s, frames): of the learning rates of all steps, summed,
 * the share of steps with ${frames} frames: how far their clips take the weights.
 * schedule_advise(s): warn where the steps with the most frames have so little of
 * it that the network will not have learned to see so many.
 */
double schedule_frames_share(const struct schedule *s, int frames);
void schedule_advise(const struct schedule *s);

/*
 * schedule_summary(s, samples, epochs, out):
 * Append to ${out} a line for each stage, and the work of the whole against
 * ${epochs} epochs at the largest shape; ${epochs} 0: as many as ${s} has.
 * With ${samples}, steps and clips too; 0: unknown.
 */
void schedule_summary(const struct schedule *s, uint64_t samples, int epochs,
    struct buffer *out);

#endif
