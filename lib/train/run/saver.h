#ifndef TRAIN_RUN_SAVER_H
#define TRAIN_RUN_SAVER_H

/*
 * Writes checkpoints while training goes on: one at a time, from a copy made
 * at a step border.
 *
 * A save that fails is a warning, and the run goes on: the one before it still
 * stands.  The copy is kept.  If it is the best so far it is tried again
 * before any later one is written, for what a later one says of the best must
 * be on the disk; any other is given up for the next one, and tried again
 * only at the end.  Where the disk is full, older checkpoints are removed
 * first, but never the newest that is known to be whole.
 */

#include "train/run/rundir.h"
#include "train/run/snapshot.h"

struct saver;

/* saver_new(r, safe): the checkpoint of step ${safe} is in ${r} and whole; 0:
 * none is. */
struct saver *saver_new(struct rundir *r, uint64_t safe);
/* saver_free waits for a save that is under way. */
void saver_free(struct saver *s);

enum { SAVE_BEST = 1, SAVE_KEEP_ALL = 2 };	/* the best; remove none */

/*
 * saver_ready(s, step, how): wait until a copy may be made for a save of
 * ${step}: there is one at a time.  0, or -1 after a warning if the best must
 * be written first and still cannot be.
 */
int saver_ready(struct saver *s, uint64_t step, int how);

/* saver_start(s, copy, step, how): begin to write ${copy}, which becomes the
 * saver's; saver_ready has said 0. */
void saver_start(struct saver *s, struct snapshot *copy, uint64_t step,
    int how);

/* saver_wait(s): until all is written; -1 after a message if the last save
 * failed, and did so again. */
int saver_wait(struct saver *s);

#endif
