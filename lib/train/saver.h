#ifndef TRAIN_SAVER_H
#define TRAIN_SAVER_H

/*
 * Writes checkpoints while training goes on: one at a time, from a copy made
 * at a step border.
 */

#include "train/checkpoint.h"
#include "train/rundir.h"

struct saver;

struct saver *saver_new(struct rundir *r);
/* saver_free waits for a save that is under way. */
void saver_free(struct saver *s);

/*
 * saver_start(s, copy, step, best): begin to write ${copy}, which becomes the
 * saver's; waits for the save before it.  A save that fails is a warning: the
 * one before it still stands, and the run goes on.
 */
void saver_start(struct saver *s, struct snapshot *copy, uint64_t step,
    int best);

/* saver_wait(s): until nothing is being written; -1 if the last one failed. */
int saver_wait(struct saver *s);

#endif
