#ifndef TRAIN_RUN_BEST_H
#define TRAIN_RUN_BEST_H

#include "train/run/rundir.h"

/*
 * best_repair(r, step):
 * best.safetensors must be the checkpoint of ${step}, which the state of the
 * run names.  A run may be killed after that checkpoint became durable and
 * before it got its second name, so where best.safetensors is missing or of
 * another step, it is made from the checkpoint.  0, or -1 after a message if
 * that is gone, too.
 */
int best_repair(struct rundir *r, uint64_t step);

/* Below every metric: there was no validation yet. */
#define BEST_WORST (-1e300)

/*
 * best_step_of(dir, best): the step of best.safetensors in ${dir}, if that is
 * where the metric was ${best}; otherwise 0.  For checkpoints of version
 * 0.1.0, which do not say it.
 */
uint64_t best_step_of(const char *dir, double best);

#endif
