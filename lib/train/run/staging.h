#ifndef TRAIN_RUN_STAGING_H
#define TRAIN_RUN_STAGING_H

/*
 * Staging on several hosts: on each host, the first rank copies the datasets
 * (shard/stage.h), and the other ranks wait.
 */

#include "comm/comm.h"

/* Options of staging. */
struct staging {
	const char *dir, *command;	/* as in struct stage_folder; dir NULL:
					 * off */
	int only_look;			/* copy nothing, and use only copies
					 * that are complete */
};

/*
 * staging_run(o, c, set, n, copy):
 * Stage the packed datasets ${set}[n] on every host.  Set ${copy}[n] to their
 * copies, which the caller frees, or to NULL for a set that is NULL or, with
 * o->only_look, has no copy.
 * Waits are not limited by the watchdog (comm/watch.h) while copying proceeds,
 * but a lost rank is noticed.  Return 0, or after a message an exit status that
 * is the same on all ranks; EXIT_AGAIN if a signal requested a stop.
 * Collective: all ranks call it.
 */
int staging_run(const struct staging *o, struct comm *c, const char *const *set,
    int n, char **copy);

#endif
