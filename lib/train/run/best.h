#ifndef TRAIN_RUN_BEST_H
#define TRAIN_RUN_BEST_H

/* Keep best.safetensors equal to the checkpoint that the state names. */

#include "train/run/rundir.h"

/*
 * best_repair(r, step):
 * If best.safetensors is missing or not the checkpoint of ${step}, make it from
 * that checkpoint.  This happens if a run was killed after the checkpoint
 * became durable, but before it was linked.  Return 0, or -1 after a message
 * if the checkpoint is missing, too.
 */
int best_repair(struct rundir *r, uint64_t step);

/* The best metric before the first validation, below every metric. */
#define BEST_WORST (-1e300)

/*
 * best_step_of(dir, best):
 * Return the step of best.safetensors in ${dir} if its metric is ${best},
 * otherwise 0 without a message.  Checkpoints of version 0.1.0 do not store
 * this step.
 */
uint64_t best_step_of(const char *dir, double best);

#endif
