#ifndef SCHED_QUERY_H
#define SCHED_QUERY_H

/* Where in a run is a step, an epoch or a sample? */

#include "base/mem.h"
#include "sched/schedule.h"

/*
 * query_print(s, samples, list, out):
 * Append to ${out} a table with a row for each item of ${list}: the step
 * "step:N", the one that the exact epoch "epoch:X" is in, or the one that takes
 * clip number N of the run, "sample:N", from 0; where there are ${samples}.  -1
 * after a message if an item says nothing, or comes after the end.
 */
int query_print(const struct schedule *s, uint64_t samples, const char *list,
    struct buffer *out);

/* query_clip(s, samples, clip): the step that takes it, or where the run ends. */
struct schedule_step query_clip(const struct schedule *s, uint64_t samples,
    uint64_t clip);

#endif
