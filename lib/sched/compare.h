#ifndef SCHED_COMPARE_H
#define SCHED_COMPARE_H

/* Schedules side by side, where they have done the same work. */

#include "base/mem.h"
#include "sched/schedule.h"

/*
 * What the forward pass of a clip of a cell costs, in any unit: cell_cost, or
 * the multiply-adds of a network.
 */
struct cost {
	double (*of)(const struct cell *c, void *arg);
	void *arg;
	const char *unit;		/* in words */
};

/* cost_input: frames * crop * crop. */
extern const struct cost cost_input;

/*
 * compare_print(s, name, n, samples, cost, out):
 * Append to ${out} two tables: of the ${n} schedules ${s}, called ${name}, what
 * each amounts to, its work being in epochs at the dearest shape of all of them;
 * and, at twenty equal parts of the most work of any, where each of them then
 * is: epoch, shape and learning rate, and with ${samples} the step; "-" after its
 * end.
 */
void compare_print(struct schedule *const *s, const char *const *name, int n,
    uint64_t samples, const struct cost *cost, struct buffer *out);

#endif
