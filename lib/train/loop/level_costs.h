#ifndef TRAIN_LOOP_LEVEL_COSTS_H
#define TRAIN_LOOP_LEVEL_COSTS_H

/* The bytes that the levels of a set add, and the time that they save. */

#include <stdio.h>

#include "train/loop/trainer.h"

/*
 * level_costs_print(t, f):
 * Print to ${f} the bytes of each smaller level of the training set.  For each
 * crop size of the schedule, print the level that its clips are read from and
 * the time to load a frame.  Print the time saved over all steps, on one core.
 * Sizes and times are those of a few hundred frames, loaded three times by one
 * thread.  Print nothing if the set has one level.
 * Return 0, or an exit status after a message.
 */
int level_costs_print(const struct trainer *t, FILE *f);

#endif
