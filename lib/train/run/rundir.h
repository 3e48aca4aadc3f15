#ifndef TRAIN_RUN_RUNDIR_H
#define TRAIN_RUN_RUNDIR_H

/*
 * The directory of a run:
 *
 *	ckpt-%010u.safetensors	checkpoints, by step
 *	latest			name and hash of the newest
 *	best.safetensors	the best by validation, if wanted (best.h)
 *	final.safetensors	written when the schedule is done
 *	log.jsonl		one JSON object a line (runlog.h)
 *	events.out.tfevents.*	the same for TensorBoard, if wanted (events.h)
 *	config, schedule.tsv, network.net	what the run was started with
 *	choices.tsv	how the back end does things, if it chooses (train/loop/choices.h)
 */

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "train/run/events.h"
#include "train/run/runlog.h"

#define RUNDIR_LOCK ".vt-train.lock"
#define CHOICES_FILE "choices.tsv"	/* in the run's directory */

struct rundir {
	const char *path;
	int lock;
	int keep;			/* newest checkpoints to keep */
	struct runlog log;		/* opened with runlog_open */
	struct events events;		/* opened with events_open, if wanted */
};

/* rundir_open(r, path): make and lock it, sweep what killed runs left. */
int rundir_open(struct rundir *r, const char *path);
void rundir_close(struct rundir *r);

/* rundir_path(r, name): the caller's to free. */
char *rundir_path(const struct rundir *r, const char *name);
char *rundir_checkpoint(const struct rundir *r, uint64_t step);

/* rundir_checkpoints(path, suffix, steps): steps of the checkpoints there whose
 * names have ${suffix} at their end, newest first, in *steps, the caller's to
 * free; how many, or -1. */
int rundir_checkpoints(const char *path, const char *suffix, uint64_t **steps);

/*
 * rundir_saved(r, step, hash, best, keep_all): a checkpoint of ${step} is
 * durable: name it in "latest", make it the best if ${best}, and unless
 * ${keep_all} remove what is no longer kept.
 */
int rundir_saved(struct rundir *r, uint64_t step, struct hash128 hash,
    int best, int keep_all);

/* rundir_prune(r): the same at the end; a killed run may have left more. */
void rundir_prune(const struct rundir *r);

/* rundir_latest(r, step, hash): what a killed run left undone: "latest" names
 * the checkpoint of ${step}, which is durable. */
int rundir_latest(struct rundir *r, uint64_t step, struct hash128 hash);

/*
 * rundir_make_room(r, safe): the disk is full: remove the oldest checkpoint
 * before that of step ${safe}, which is whole.  1 if there was one.
 */
int rundir_make_room(const struct rundir *r, uint64_t safe);

/* rundir_name(r, path, name): give a file ${name} in the run, too, durably. */
int rundir_name(const struct rundir *r, const char *path, const char *name);

/*
 * rundir_finish(r, step): final.safetensors, from the last checkpoint.
 * rundir_unfinish(r): there are steps to go, so there is none; a run that was
 * finished may go on with a longer schedule.
 */
int rundir_finish(struct rundir *r, uint64_t step);
int rundir_unfinish(struct rundir *r);

/*
 * rundir_choose(path): the checkpoint that ${path} means: a file itself; of the
 * folder of a run the final one, else the best, else the newest.  The caller's
 * to free; NULL after a message if there is none.
 */
char *rundir_choose(const char *path);

#endif
