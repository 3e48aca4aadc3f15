#ifndef TRAIN_RUN_RESUME_H
#define TRAIN_RUN_RESUME_H

/* Find the checkpoint from which a run resumes, and tell the state of a run. */

#include <stdio.h>

#include "train/run/checkpoint.h"

/* An intact checkpoint. */
struct resume {
	char *path;
	struct safetensors file;
	struct state state;
	int skipped;			/* number of newer checkpoints, which
					 * are damaged or not finite */
	uint64_t newest;		/* step of the newest one of all */
};

/*
 * resume_newest(dir, r):
 * Read the newest checkpoint of run directory ${dir} that is intact and finite.
 * Report the defects of newer ones.  Change nothing on the disk.  Return
 *
 *	1	found; the caller calls resume_free
 *	0	there are no checkpoints, without a message
 *	-1	a file cannot be read
 *	-2	all checkpoints are damaged
 *	-3	all checkpoints contain NaN or infinity
 */
int resume_newest(const char *dir, struct resume *r);

/*
 * resume_rename_bad(dir, r):
 * Rename the newer checkpoints that resume_newest skipped to *.bad.  ${r} is
 * its result, or all zeros if a new run begins.  The caller holds the lock of
 * the directory, which resume_newest did not need.  Return 0, or -1 after a
 * message if the checkpoints have changed since.
 */
int resume_rename_bad(const char *dir, const struct resume *r);

/* resume_file(path, r): read checkpoint ${path}.  Return 1, or -1, -2 or -3
 * after a message, as checkpoint_read. */
int resume_file(const char *path, struct resume *r);
void resume_free(struct resume *r);

/*
 * run_status(dir, f):
 * Print the state of the run in ${dir} to ${f}, as one JSON object.  Return the
 * exit status for that state:
 *
 *	finished	0 or 3	the schedule is done
 *	running		75	a process is training it
 *	unfinished	75	stopped with its state saved, or killed
 *	diverged	5
 *	failed		1 or 4	as the run did, or all checkpoints are damaged
 *	none		2	not the directory of a run; with a message
 *
 * Change nothing on the disk; a process may train the run meanwhile.
 */
int run_status(const char *dir, FILE *f);

/*
 * run_finished(dir):
 * Return the exit status of the run in ${dir} if it is finished, or -1 without
 * a message if it is not.  ${dir} must contain a checkpoint.
 */
int run_finished(const char *dir);

#endif
