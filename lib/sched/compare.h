#ifndef SCHED_COMPARE_H
#define SCHED_COMPARE_H

/* Schedules side by side, where they have done the same work. */

#include "base/mem.h"
#include "sched/summary.h"

/*
 * compare_print(s, name, n, samples, cost, out):
 * Append to ${out} two tables of the ${n} schedules ${s}, called ${name}.  The
 * first has their totals, with work in epochs at the most expensive shape of all.
 * The second has, at twenty equal parts of the most work of any, the epoch, shape
 * and learning rate of each, and with ${samples} the step; "-" after its end.
 * Return 0, or -1 if ${cost} returns 0 or less for a cell, which it reports.
 */
int compare_print(struct schedule *const *s, const char *const *name, int n,
    uint64_t samples, const struct cost *cost, struct buffer *out);

#endif
