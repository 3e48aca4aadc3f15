#ifndef TRAIN_RUN_RUNDIR_H
#define TRAIN_RUN_RUNDIR_H

/*
 * The directory of a run, which only rank 0 changes:
 *
 *	ckpt-%010u.safetensors	checkpoints, by step
 *	latest			name and hash of the newest checkpoint
 *	best.safetensors	the best by validation, if wanted
 *	final.safetensors	the last checkpoint of a finished schedule
 *	log.jsonl		one JSON object a line (runlog.h)
 *	events.out.tfevents.*	event files of TensorBoard (events.h)
 *	config, schedule.tsv,	inputs of the run
 *	network.net, classes.txt
 *	recipe			its recipe, with its network
 *	choices.tsv		algorithms of the back end, if it has choices
 *				(train/loop/choices.h)
 *	init.tsv		matched weights, with --init
 *	split.tsv		samples that train and validate, with --val=P%
 *	data, val		sets packed of videos (train/loop/videos.h)
 *
 * Functions that return int return 0, or -1 after a message, unless they say
 * otherwise.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/hash.h"
#include "train/run/events.h"
#include "train/run/runlog.h"

#define RUNDIR_LOCK ".vt-train.lock"
#define RUNDIR_NAMES RUNDIR_LOCK "|ckpt-*|latest|best.safetensors|" \
	"final.safetensors|log.jsonl|events.out.*|config|schedule.tsv|" \
	"network.net|classes.txt|" RUNDIR_RECIPE "|" CHOICES_FILE \
	"|init.tsv|" SPLIT_FILE "|nan-*"
#define RUNDIR_RECIPE "recipe"
#define CHOICES_FILE "choices.tsv"	/* in the run's directory */
#define SPLIT_FILE "split.tsv"

struct rundir {
	const char *path;		/* must outlive the struct */
	int lock;			/* file descriptor of RUNDIR_LOCK */
	int keep;			/* newest checkpoints to keep */
	struct runlog log;		/* opened with runlog_open */
	struct events events;		/* opened with events_open, if wanted */
};

/* rundir_open(r, path): make and lock directory ${path}, and remove temporary
 * files of killed runs. */
int rundir_open(struct rundir *r, const char *path);
void rundir_close(struct rundir *r);

/* rundir_checkpoint(path, step): return the path of the checkpoint of ${step}
 * in directory ${path}.  The caller frees it. */
char *rundir_checkpoint(const char *path, uint64_t step);

/*
 * rundir_checkpoints(path, suffix, steps):
 * List the checkpoints in directory ${path} whose names end in
 * ".safetensors${suffix}".  Set ${*steps} to their steps, newest first, which
 * the caller frees.  Return their number, 0 if there is no such directory, or
 * -1 after a message.
 */
int rundir_checkpoints(const char *path, const char *suffix, uint64_t **steps);

/*
 * rundir_saved(r, step, hash, best, keep_all, e):
 * Complete the save of ${step}, whose checkpoint is durable and has ${hash}:
 * name it in "latest", link it as best.safetensors if ${best}, and unless
 * ${keep_all} remove checkpoints beyond ${r}->keep.  A file that cannot be
 * removed is a warning.  The message is added to ${e}, printed if it is NULL.
 */
int rundir_saved(struct rundir *r, uint64_t step, struct hash128 hash,
    int best, int keep_all, struct error *e);

/* rundir_prune(r, step): remove checkpoints of steps before ${step}, the oldest
 * first, except the ${r}->keep newest.  A failure is a warning. */
void rundir_prune(const struct rundir *r, uint64_t step);

/* rundir_latest(r, step, hash, e): make "latest" name the checkpoint of
 * ${step}, which is durable and has ${hash}.  The message is added to ${e},
 * printed if it is NULL. */
int rundir_latest(struct rundir *r, uint64_t step, struct hash128 hash,
    struct error *e);

/*
 * rundir_free_space(r, safe):
 * On a full disk, remove the oldest checkpoint, after a warning, if it is older
 * than the intact one of step ${safe}.  Return 1 if a file was removed, else 0.
 */
int rundir_free_space(const struct rundir *r, uint64_t safe);

/* rundir_link(r, step, name, e): durably link the checkpoint of ${step} as
 * ${name} in ${r}, or copy it if the file system has no links.  Replace an
 * existing ${name}.  The message is added to ${e}, printed if it is NULL. */
int rundir_link(const struct rundir *r, uint64_t step, const char *name,
    struct error *e);

/* rundir_unfinish(r): remove final.safetensors, if it exists.  A finished run
 * may continue with a longer schedule. */
int rundir_unfinish(struct rundir *r);

/*
 * rundir_find_checkpoint(path):
 * Return the path of the checkpoint that ${path} means: a file is itself.  A
 * run directory means its final checkpoint, else the best, else the newest.
 * Return NULL after a message if it has none.  The caller frees the path.
 */
char *rundir_find_checkpoint(const char *path);

/*
 * rundir_repair_best(r, step):
 * If best.safetensors is missing or not the checkpoint of ${step}, make it from
 * that checkpoint.  This happens if a run was killed after the checkpoint
 * became durable, but before it was linked.  Return 0, or -1 after a message
 * if the checkpoint is missing, too.
 */
int rundir_repair_best(struct rundir *r, uint64_t step);

#endif
