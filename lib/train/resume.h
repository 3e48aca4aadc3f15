#ifndef TRAIN_RESUME_H
#define TRAIN_RESUME_H

/*
 * Going on where a run stopped: which checkpoint, and whether it belongs to
 * the run that is asked for.
 */

#include "base/options.h"
#include "train/checkpoint.h"

/* A checkpoint that was found and is whole. */
struct resume { char *path; struct safetensors file; struct state state; };

/*
 * resume_newest(dir, r): the newest whole checkpoint of run directory ${dir}.
 * Damaged ones are reported and renamed to *.bad.  1 found; 0 there is none;
 * -1 an error; -2 there were some, all damaged.
 */
int resume_newest(const char *dir, struct resume *r);

/* resume_file(path, r): that one; 1, -1 or -2. */
int resume_file(const char *path, struct resume *r);
void resume_free(struct resume *r);

/*
 * resume_check(r, now, free, override):
 * A run may go on with another number of ranks, other paths, other logging,
 * but not with other data, another network or another recipe: -1 after a
 * message for each difference, with both values.  ${free} lists the settings
 * that may change, " a b c " between blanks; ${override} those the user
 * allowed.  state.history of ${now} is that of the present schedule up to the
 * checkpoint's step.
 */
int resume_check(const struct resume *r, const struct state *now,
    const char *free, const struct option_list *override);

#endif
