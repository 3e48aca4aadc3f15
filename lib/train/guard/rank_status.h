#ifndef TRAIN_GUARD_RANK_STATUS_H
#define TRAIN_GUARD_RANK_STATUS_H

/*
 * Describe a rank by its clips, for the watch (comm/watch.h).  The clips of a
 * rank are a function of the step, so another rank can describe one that no
 * longer answers.
 */

#include <stddef.h>
#include <stdint.h>

/*
 * rank_status_describe(t, rank, step, text, size): describe in ${text} [size]
 * the clips of ${rank} in step ${step}, for watch_set_describe. ${t} is the
 * trainer. For this rank, name the clip that is computed now; for another, the
 * first of its clips. Write nothing if ${step} is 0. The watchdog's thread
 * calls it.
 */
void rank_status_describe(void *t, int rank, uint64_t step, char *text,
    size_t size);

#endif
