#ifndef SCHED_COMPARE_H
#define SCHED_COMPARE_H

/* Compares schedules at points of equal work. */

#include "base/mem.h"
#include "sched/summary.h"

/*
 * compare_print(s, name, n, samples, cost, out):
 * Append to ${out} two tables of the ${n} schedules ${s}, named ${name}.  The
 * first has their totals, with work in epochs at the most expensive shape of
 * all.  The second has a row for each twentieth of the largest total work.  It
 * gives the epoch, shape and learning rate of each schedule there, and the step
 * if ${samples} is not 0.  A schedule that has ended shows "-".  Return 0, or
 * -1 if ${cost} returns 0 or less for a cell; it has reported why.
 */
int compare_print(struct schedule *const *s, const char *const *name, int n,
    uint64_t samples, const struct cost *cost, struct buffer *out);

#endif
