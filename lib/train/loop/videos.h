#ifndef TRAIN_LOOP_VIDEOS_H
#define TRAIN_LOOP_VIDEOS_H

/*
 * Open videos that are not packed as a dataset, on all ranks of a run.  This is
 * the only part of train that knows ingest.
 */

#include "base/number.h"
#include "comm/comm.h"
#include "shard/dataset.h"

/* Options of vt-train(1) for videos. */
struct video_settings {
	const char *root;		/* NULL: the current directory */
	struct fraction fps;		/* 0/0: every frame */
	int64_t short_side;
	int skip;			/* --on-error=skip */
	const char *given;		/* the first such option, which packed
					 * sets do not take; NULL: none */
};

/* A set of videos to open. */
struct videos {
	const char *path;
	const struct video_settings *set;
	int threads;			/* of a rank */
	const struct class_list *classes;	/* NULL: those that occur */
	const char *whose;		/* source of ${classes} */
	const char *table;		/* facts of an earlier start of the run
					 * (rank 0); NULL: none */
	int accept;			/* 1: videos may differ from it (rank
					 * 0) */
	/* results */
	struct dataset *data;
	char *facts;			/* the table to keep, which the caller
					 * frees */
	size_t skipped;			/* refused videos */
	double seconds;			/* to decode each video once */
};

/* videos_are(c, path): Return 1 on all ranks if ${path} on rank 0 is a list or
 * a folder of videos, 0 if it is not.  Collective: all ranks call it. */
int videos_are(struct comm *c, const char *path);

/*
 * videos_open(v, c):
 * List the videos, verify a share of them on each rank, and open v->data.
 * Return 0, or an exit status that is the same on all ranks, EXIT_AGAIN after a
 * signal.  Collective: all ranks call it.
 */
int videos_open(struct videos *v, struct comm *c);

#endif
