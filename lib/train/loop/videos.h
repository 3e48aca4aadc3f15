#ifndef TRAIN_LOOP_VIDEOS_H
#define TRAIN_LOOP_VIDEOS_H

/*
 * Videos as the data of a run.  Rank 0 packs them before the run begins, and
 * all ranks train on the set (ingest/video_set.h).  The sets of a run are
 * RUN/data and RUN/val, or with --cache in that directory.
 *
 * This is the only part of train that includes ingest.
 */

#include <stdio.h>

#include "comm/comm.h"
#include "train/settings.h"

/* The names of the sets in the run's directory, "data" and "val". */
extern const char *const videos_name[2];

struct videos {
	struct comm *comm;
	const struct settings *o;
	const char *run;		/* its directory; NULL: none */
	struct videos_set {
		char *path;		/* of the set; NULL: not of videos */
		char *plan;		/* planned_videos of a set that is not
					 * packed yet; NULL: it is */
		struct video_set *videos;	/* on rank 0, of such a set */
	} of[2];			/* --data, --val */
	size_t skipped;			/* refused videos of both */
	int holds_out;			/* 1: a part of --data validates by
					 * default */
	int divided;			/* 1: --data is a list with rows of
					 * subset val, which validate */
};

/*
 * videos_open(p, c, o, run, replays):
 * Find out which data of ${o} are videos, and whether their sets exist.
 * ${run} may be NULL; for one that is replayed, its sets are taken as they are.
 * If a list has rows of the subset val, they become the set of o->val.
 * Otherwise set o->holdout if ${o} leaves schedule and validation to the rules.
 * ${o} must outlive ${p}, which videos_close frees in any case.  Return 0, or
 * an exit status that is the same on all ranks.  Collective: all ranks call it.
 */
int videos_open(struct videos *p, struct comm *c, struct settings *o,
    const char *run, int replays);
void videos_close(struct videos *p);

/* videos_due(p): Return 1 if a set must be packed before the run. */
int videos_due(const struct videos *p);

/*
 * videos_use(p, to):
 * Let ${to} name the sets that exist, and set p->skipped.  Return 0, or an exit
 * status that is the same on all ranks.  Collective: all ranks call it.
 */
int videos_use(struct videos *p, struct settings *to);

/*
 * videos_run(p, checkpoints):
 * Pack the sets that are due.  ${checkpoints} is the bytes of disk that the run
 * takes besides.  Return 0, or an exit status that is the same on all ranks:
 * EXIT_AGAIN after a signal, EXIT_USAGE if the disk is too small or a host does
 * not see the directory.  Collective: all ranks call it.
 */
int videos_run(struct videos *p, double checkpoints);

/* videos_print(p, f): On rank 0, print to ${f} what packing will take.  Return
 * 0, or -1 after a message. */
int videos_print(const struct videos *p, FILE *f);

#endif
