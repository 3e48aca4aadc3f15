#ifndef TRAIN_RUNDIR_H
#define TRAIN_RUNDIR_H

/*
 * The directory of a run:
 *
 *	ckpt-%010u.safetensors	checkpoints, by step
 *	latest			name and hash of the newest
 *	best.safetensors	the best by validation, if wanted
 *	final.safetensors	written when the schedule is done
 *	log.jsonl		one JSON object a line
 *	config, schedule.tsv, network.net	what the run was started with
 */

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

struct rundir {
	const char *path;
	int lock;
	int keep;			/* newest checkpoints to keep */
	int log;			/* descriptor of the log, -1: closed */
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
 * rundir_saved(r, step, hash, best): a checkpoint of ${step} is durable: name
 * it in "latest", make it the best if ${best}, and remove what is no longer
 * kept.
 */
int rundir_saved(struct rundir *r, uint64_t step, struct hash128 hash,
    int best);

/*
 * rundir_finish(r, step): final.safetensors, from the last checkpoint.
 * rundir_unfinish(r): there are steps to go, so there is none; a run that was
 * finished may go on with a longer schedule.
 */
int rundir_finish(struct rundir *r, uint64_t step);
int rundir_unfinish(struct rundir *r);

/*
 * rundir_log_open(r, step): the log, cut back to lines of steps up to ${step};
 * 0 begins it anew.  rundir_log(r, line): append a line.
 */
int rundir_log_open(struct rundir *r, uint64_t step);
int rundir_log(struct rundir *r, const char *line);

#endif
