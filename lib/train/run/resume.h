#ifndef TRAIN_RUN_RESUME_H
#define TRAIN_RUN_RESUME_H

/*
 * Going on where a run stopped: which checkpoint, and whether it belongs to
 * the run that is asked for.
 */

#include "base/options.h"
#include "sched/schedule.h"
#include "train/run/agree.h"
#include "train/run/checkpoint.h"

/* A checkpoint that was found and is whole. */
struct resume {
	char *path;
	struct safetensors file;
	struct state state;
	int passed;			/* newer ones that are of no use */
	uint64_t newest;		/* the step of the newest of all */
};

/*
 * resume_newest(dir, r): the newest checkpoint of run directory ${dir} that is
 * whole and finite; what is wrong with newer ones is reported.  1 found; 0
 * there is none; -1 an error; -2 there were some, all damaged; -3 all damaged
 * or not finite.  Nothing on the disk is changed.
 */
int resume_newest(const char *dir, struct resume *r);

/*
 * resume_set_aside(dir, r): the run goes on from ${r}, which resume_newest
 * found (or with all zeros, begins): rename those it passed over to *.bad.
 * The lock is held, and was not when they were read: -1 after a message if
 * there are others now.
 */
int resume_set_aside(const char *dir, const struct resume *r);

/* resume_file(path, r): that one; 1, -1, -2 or -3. */
int resume_file(const char *path, struct resume *r);
void resume_free(struct resume *r);

/*
 * resume_identity(s): what a state says of what must be the same; its texts.
 */
struct identity resume_identity(const struct state *s);

/*
 * resume_check(r, now, schedule, samples, override):
 * Compare checkpoint ${r} with the run that would resume from it.  ${now} is
 * the state of that run, whose history is that of ${schedule} over ${samples}
 * samples up to the step of ${r}.  The settings named in ${override} may
 * differ.  Return 0, or -1 after a message for each difference.
 */
int resume_check(const struct resume *r, const struct state *now,
    const struct schedule *schedule, uint64_t samples,
    const struct option_list *override);

#endif
