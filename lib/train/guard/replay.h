#ifndef TRAIN_GUARD_REPLAY_H
#define TRAIN_GUARD_REPLAY_H

/*
 * A stretch of a run computed again, from one of its checkpoints or from the
 * start, and held against those that follow, bit for bit.  The run is only read.
 */

#include "train/loop/trainer.h"
#include "train/run/resume.h"
#include "train/run/snapshot.h"

struct replay {
	const char *run;		/* its directory */
	uint64_t from, to;		/* steps: of a checkpoint, 0 the start */
	uint64_t *step;			/* [n] of the checkpoints to compare with,
					 * in order */
	int n, next;
	int checked;			/* rank 0: the recipe is that of the run */
	const struct option_list *override;
	FILE *out;			/* a line for each; rank 0 */
};

/*
 * replay_open(r, c, run, text): the stretch that ${text}, "A:B", asks for; ":B"
 * and NULL begin with step 0, "A:" and NULL end with the newest checkpoint.
 * Which there are, rank 0 of ${c} looks at; all have the answer: 0, or an exit
 * status after a message, EXIT_USAGE if there is no such checkpoint.
 */
int replay_open(struct replay *r, struct comm *c, const char *run,
    const char *text);
void replay_close(struct replay *r);

/*
 * replay_find(r, found): rank 0: the checkpoint that the stretch begins with, 1;
 * 0: it begins with the first step; or -1, -2, -3 as resume_file.
 */
int replay_find(const struct replay *r, struct resume *found);

/*
 * replay_border(r, t): after a step, on all ranks: if there is a checkpoint of
 * it, compare.  0; after a message EXIT_DAMAGE, if it is damaged or holds
 * something else, or another exit status.
 */
int replay_border(struct replay *r, struct trainer *t);

#endif
