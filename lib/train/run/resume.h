#ifndef TRAIN_RUN_RESUME_H
#define TRAIN_RUN_RESUME_H

/* Find the checkpoint from which a run resumes. */

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

#endif
