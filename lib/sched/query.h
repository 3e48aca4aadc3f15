#ifndef SCHED_QUERY_H
#define SCHED_QUERY_H

/* Finds the step of an epoch or sample of a run. */

#include "base/mem.h"
#include "sched/schedule.h"

/*
 * query_print(s, samples, list, out):
 * Append to ${out} a table with a row for each item of ${list}, for a data set
 * of ${samples} samples.  An item is one of:
 *
 *	step:N		step N
 *	epoch:X		the step of the exact epoch X
 *	sample:N	the step that trains on clip number N of the run
 *
 * Numbers count from 0.  Return 0, or -1 after a message if an item is invalid
 * or after the end.
 */
int query_print(const struct schedule *s, uint64_t samples, const char *list,
    struct buffer *out);

/*
 * query_clip(s, samples, clip):
 * Return the step that trains on ${clip}, or the last step if the run ends
 * before.
 */
struct schedule_step query_clip(const struct schedule *s, uint64_t samples,
    uint64_t clip);

#endif
