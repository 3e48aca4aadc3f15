#ifndef SCHED_SUMMARY_H
#define SCHED_SUMMARY_H

/*
 * Summaries of schedules for the user: the work of one, a table of its stages,
 * and several at points of equal work.
 */

#include "base/mem.h"
#include "sched/schedule.h"

/*
 * stage_batch(g): return the mean number of clips a step over the short cycle.
 */
double stage_batch(const struct stage *g);

/*
 * The cost of a clip's forward pass in a cell, in any unit: cell_cost, or the
 * multiply-adds of a network.
 */
struct cost {
	/* Return the cost.  0 or less is an error, after a message. */
	double (*of)(const struct cell *c, void *arg);
	void *arg;
	const char *unit;		/* name of the unit, for tables */
};

/* cost_input: frames * crop * crop, as cell_cost. */
extern const struct cost cost_input;

/* stage_cost(g, cost): return the mean cost of the clips of an epoch. */
double stage_cost(const struct stage *g, const struct cost *cost);

/* schedule_cost(s, cost): return the sum over stages of epochs * stage_cost. */
double schedule_cost(const struct schedule *s, const struct cost *cost);

/*
 * schedule_largest(s, cost):
 * Return the most expensive cell; among equal ones, the last.
 */
const struct cell *schedule_largest(const struct schedule *s,
    const struct cost *cost);

/*
 * schedule_work(s):
 * Return the work in epochs at the most expensive shape: schedule_cost divided
 * by the cost of schedule_largest, both by cost_input.
 */
double schedule_work(const struct schedule *s);

/*
 * schedule_advise(s):
 * Warn if the steps with the largest number of frames have too small a share of
 * the sum of all learning rates.  The network then does not learn to use so
 * many frames.
 */
void schedule_advise(const struct schedule *s);

/*
 * schedule_summary(s, samples, epochs, out):
 * Append to ${out} a line for each stage, and compare the total work with
 * ${epochs} epochs at the largest shape.  ${epochs} 0: as many as ${s} has.
 * Add steps and clips unless ${samples} is 0.
 */
void schedule_summary(const struct schedule *s, uint64_t samples, int epochs,
    struct buffer *out);

/*
 * summary_compare(s, name, n, samples, cost, out):
 * Append to ${out} two tables of the ${n} schedules ${s}, named ${name}.  The
 * first has their totals, with work in epochs at the most expensive shape of
 * all.  The second has a row for each twentieth of the largest total work.  It
 * gives the epoch, shape and learning rate of each schedule there, and the step
 * if ${samples} is not 0.  A schedule that has ended shows "-".  Return 0, or
 * -1 if ${cost} returns 0 or less for a cell; it has reported why.
 */
int summary_compare(struct schedule *const *s, const char *const *name, int n,
    uint64_t samples, const struct cost *cost, struct buffer *out);

#endif
