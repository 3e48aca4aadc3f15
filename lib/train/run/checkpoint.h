#ifndef TRAIN_RUN_CHECKPOINT_H
#define TRAIN_RUN_CHECKPOINT_H

/*
 * Checkpoints: everything a run needs to go on as if it had never stopped, in
 * a safetensors file (vt-checkpoint(5)).  Weights are model/NAME, running
 * statistics bn/NAME, slots (train/optim/slots.h) as they are called, momentum
 * optim/momentum/NAME; the rest is metadata.
 */

#include <stdint.h>

#include "weights/safetensors.h"
#include "train/optim/slots.h"

/*
 * What is saved beside the tensors; texts are the owner's.  Checkpoints of
 * version 0.1.0 lack isa, library, dataset and extract, which are NULL then; their
 * build is "vt 0.1.0 cpu avx512".
 */
struct state {
	uint64_t step, clips;		/* steps done, clips seen (G) */
	uint64_t seed;
	double epoch;			/* clips / samples */
	double loss;			/* running mean, for the log */
	double best;			/* the best of metric ${best_metric} */
	uint64_t best_step;		/* where it was; 0: none yet, or not
					 * known (version 0.1.0) */
	uint64_t skipped;		/* steps that were, of those done: they
					 * were not finite */
	int grown, grow_wants;		/* the batch of learners, times that of
					 * the schedule; averages in a row that
					 * wanted more (train/learn/grow.h) */
	int due;			/* 1: its validation was due, and failed */
	const char *best_metric;	/* "top1", "loss", "map"; "" if
					 * best_step is 0 */
	const char *build;		/* "vt 0.2.0+86a0a4f12345" */
	const char *results;		/* VERSION_RESULTS; "1" if an older
					 * checkpoint lacks it */
	const char *isa, *library;	/* "avx512", "oneDNN 2.6.3" or "none" */
	const char *precision;		/* "fp32", "bf16 by AMX"; older ones do
					 * not say, and are fp32 */
	const char *classes;		/* one name a line */
	const char *class_hash;		/* 16 hex digits */
	const char *choices;		/* the back end's, "ROWS:HASH", NULL: it
					 * has none, or sums are not exact */
	const char *config;		/* settings, as --print-config, by their
					 * present names */
	const char *corrupt;		/* numbers of samples that are damaged
					 * and passed over (data/bad.h), NULL:
					 * none */
	const char *dataset;		/* dataset_id, 32 hex digits */
	const char *settings_id;	/* of the data, 32 hex digits */
	int64_t generation;
	const char *extract;		/* how the data's frames were made
					 * (ingest/extract_settings.h); NULL: not
					 * known */
	const char *flips;		/* hash of what classes become where clips
					 * are mirrored, or "none" */
	const char *history;		/* hash of the schedule so far */
	const char *model, *network;	/* its name, and the .net file's text */
	int frames, crop, stride;	/* of the schedule's last cell; stride 0:
					 * none, or not known (0.1.0) */
	const char *init;		/* the weights it began from, NULL:
					 * none (train/weights/init.h) */
	const char *order;		/* how sums are ordered: "v1/LEAF" */
};

#define CHECKPOINT_FORMAT "1"
#define CHECKPOINT_ROUNDING 1e-6f	/* rounding: a variance may be this far
					 * below 0 */

/* checkpoint_name(p): what a parameter is called in the file, the caller's to
 * free: "model/NAME", "bn/NAME". */
char *checkpoint_name(const struct param *p);

/* checkpoint_finite(path, tensor, n): 0; -3 after a message if one of ${n}
 * tensors, that are or will be in ${path}, has a value that is not finite. */
int checkpoint_finite(const char *path, const struct tensor *tensor, size_t n);

/*
 * checkpoint_read(path, file, state): read and check a whole checkpoint; the
 * texts of ${state} point into ${file}.  0; after a message, -1: cannot be
 * read; -2: damaged; -3: it holds NaN or infinity.
 */
int checkpoint_read(const char *path, struct safetensors *file,
    struct state *state);

/* checkpoint_status(bad): the exit status for what checkpoint_read gave. */
int checkpoint_status(int bad);

/* checkpoint_has_ema(file, path): 0 if a moving average is in it, else -1 after
 * a message. */
int checkpoint_has_ema(const struct safetensors *file, const char *path);

/*
 * checkpoint_load(file, path, n): put its weights and running statistics into
 * net ${n}; checkpoint_load_ema their moving average.  checkpoint_slots(file,
 * path, slots, whole): the rest, for all ranks, into ${whole}, which is made;
 * slots_scatter shares it out.  A slot that the checkpoint does not know, since
 * it was made with other settings, has its first values, after a note.  -1
 * after a message if a tensor is missing or of another shape.
 */
int checkpoint_load(const struct safetensors *file, const char *path,
    struct net *n);
int checkpoint_load_ema(const struct safetensors *file, const char *path,
    struct net *n);
int checkpoint_slots(const struct safetensors *file, const char *path,
    const struct slots *slots, struct slots_whole *whole);

#endif
