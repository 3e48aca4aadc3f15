#ifndef TRAIN_GUARD_REPLAY_H
#define TRAIN_GUARD_REPLAY_H

/*
 * Replay: compute a range of a run again, from a checkpoint or from the start.
 * Compare the result with the checkpoints in the range, bit for bit.  The run
 * is only read.
 */

#include "train/loop/trainer.h"
#include "train/run/resume.h"
#include "train/run/snapshot.h"

/* A replay: the range, and the checkpoints to compare with. */
struct replay {
	const char *run;		/* the run's directory */
	uint64_t from, to;		/* steps of checkpoints; from 0: the
					 * start */
	uint64_t *step;			/* [n] steps of the checkpoints to
					 * compare with, in order */
	int n, next;
	int checked;			/* rank 0: 1 if the recipe was compared
					 * with that of a checkpoint */
	struct resume then;		/* rank 0: checkpoint of this step */
	int got;			/* result of resume_file for it; 0: not
					 * read yet */
	const struct option_list *override;	/* options that may differ */
	FILE *out;			/* a row for each checkpoint; rank 0 */
};

/*
 * replay_open(r, c, run, text):
 * Find the range ${text}, "A:B", in the run at ${run}, which must outlive ${r}.
 * ":B" and NULL begin at step 0; "A:" and NULL end at the newest checkpoint.
 * Rank 0 of ${c} reads the directory for all ranks.  Return 0, or an exit
 * status after a message: EXIT_USAGE if there is no such checkpoint.
 * replay_close frees the list.
 * Collective: all ranks call it.
 */
int replay_open(struct replay *r, struct comm *c, const char *run,
    const char *text);
void replay_close(struct replay *r);

/*
 * replay_find(r, found): read the checkpoint at which the range begins; rank 0
 * calls it.  Return 1, 0 if the range begins at step 0, or -1, -2 or -3 as
 * resume_file.
 */
int replay_find(const struct replay *r, struct resume *found);

/*
 * replay_due(r, t): return what the checkpoint of this step leaves of its
 * validation, DUE_*, or DUE_VALIDATION if it has all measurements, or if there
 * is none.  Collective: all ranks call it.
 */
int replay_due(struct replay *r, const struct trainer *t);

/*
 * replay_step_boundary(r, t): after a step, compare the state with the
 * checkpoint of that step if the range has one. Return 0, or an exit status
 * after a message: EXIT_DAMAGE if the checkpoint is damaged or differs.
 * Collective: all ranks call it.
 */
int replay_step_boundary(struct replay *r, struct trainer *t);

#endif
