#ifndef TRAIN_RUN_SAVER_H
#define TRAIN_RUN_SAVER_H

/*
 * Write checkpoints in the background of training: one at a time, from a copy
 * made at a step boundary.
 *
 * A failed save is a warning, and the run continues: the last intact checkpoint
 * remains.  After SAVER_FAILURES failures in a row the run should end, because
 * it trains for nothing.  The copy is kept and written later:
 *
 * - The best so far is tried again before any later save, because the metadata
 *   of later checkpoints name its step.
 * - Any other copy is dropped at the next save.  At the end it is tried again.
 *
 * On a full disk, older checkpoints are removed first, but never the newest one
 * known to be intact.  Only rank 0 has a saver, and only its main thread calls
 * these functions.
 */

#include "train/run/rundir.h"
#include "train/run/snapshot.h"

struct saver;

/* saver_new(r, safe): return a saver for ${r}, which must outlive it.  ${safe}
 * is the step of an intact checkpoint in ${r}; 0: none. */
struct saver *saver_new(struct rundir *r, uint64_t safe);

/* saver_free(s): wait for a running save, and free ${s} with its copy.
 * saver_free(NULL) does nothing. */
void saver_free(struct saver *s);

/* The checkpoint is the best so far; remove no older ones. */
enum { SAVE_BEST = 1, SAVE_KEEP_ALL = 2 };

/*
 * saver_ready(s, step, how):
 * Wait for the running save, so that a copy for the save of ${step} may be
 * made.  ${how} has SAVE_* bits.  Return 0, or -1 after a warning if the best
 * checkpoint must be written first and still cannot be.
 */
int saver_ready(struct saver *s, uint64_t step, int how);

/* saver_start(s, copy, step, how): start to write ${copy}, and take it.
 * saver_ready must have returned 0. */
void saver_start(struct saver *s, struct snapshot *copy, uint64_t step,
    int how);

/* saver_gave_up(s): return 1 after SAVER_FAILURES failed saves in a row. */
enum { SAVER_FAILURES = 3 };
int saver_gave_up(const struct saver *s);

/* saver_wait(s): wait for the running save, and try a failed one again.  Return
 * 0, or -1 after a message if the last step is not saved. */
int saver_wait(struct saver *s);

#endif
