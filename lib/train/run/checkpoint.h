#ifndef TRAIN_RUN_CHECKPOINT_H
#define TRAIN_RUN_CHECKPOINT_H

/*
 * Read checkpoints (vt-checkpoint(5)): a safetensors file with everything that
 * a run needs to resume with the same bits.  Weights are tensors model/NAME,
 * running statistics bn/NAME.  Optimizer state has the names of
 * train/optim/slots.h, such as optim/momentum/NAME.  The rest is metadata.
 * snapshot.h writes checkpoints.
 */

#include <stdint.h>

#include "weights/safetensors.h"
#include "train/optim/slots.h"

/*
 * The metadata of a checkpoint.  Texts belong to the owner of the struct.
 * Checkpoints of version 0.1.0 lack isa, library, dataset and extract, which
 * are NULL then; their build is "vt 0.1.0 cpu avx512".
 */
struct state {
	uint64_t step, clips;		/* steps done, clips used */
	uint64_t seed;
	double epoch;			/* clips / samples */
	double loss;			/* moving average, for the log */
	double best;			/* best value of ${best_metric}; a loss
					 * is negated */
	uint64_t best_step;		/* its step; 0: none yet, or unknown
					 * (version 0.1.0) */
	uint64_t skipped;		/* of ${step}, those skipped because
					 * they were not finite */
	int grown, grow_wants;		/* factor by which the batch has grown;
					 * averages or updates in a row above
					 * the threshold
					 * (train/learn/round.h) */
	double noise_trace, noise_gradient;	/* moving averages of tr(S) and
						 * |g|^2 without learners
						 * (train/learn/grown_batch.h);
						 * both 0: none yet */
	int due;			/* DUE_*: the rest of the validation due
					 * at this step; 0: none */
	const char *best_metric;	/* "top1", "loss", "map"; "" if
					 * best_step is 0 */
	const char *build;		/* "vt 0.2.0+86a0a4f12345" */
	const char *results;		/* VERSION_RESULTS; "1" if an older
					 * checkpoint lacks it */
	const char *isa, *library;	/* "avx512", "oneDNN 2.6.3" or "none" */
	const char *precision;		/* "fp32", "bf16 by AMX"; "fp32" if an
					 * older checkpoint lacks it */
	const char *classes;		/* one name a line */
	const char *class_hash;		/* 16 hex digits */
	const char *choices;		/* stamp of the chosen algorithms,
					 * "ROWS:HASH" (train/loop/choices.h);
					 * NULL: the back end has no choices, or
					 * sums are not exact */
	const char *config;		/* settings, as --print-config, under
					 * the option names of this version */
	const char *corrupt;		/* indices of samples known as damaged
					 * (data/bad.h); NULL: none */
	const char *dataset;		/* dataset_id, 32 hex digits */
	const char *settings_id;	/* hash of the dataset's settings, 32
					 * hex digits */
	int64_t generation;		/* of the dataset */
	const char *extract;		/* settings of the dataset's extraction
					 * (ingest/extract_settings.h); NULL:
					 * unknown */
	const char *flips;		/* hash of the table of --flip-swap, or
					 * "none" */
	const char *class_weights;	/* hash of the weights of
					 * --class-weight, or "none" */
	const char *history;		/* hash of the schedule up to ${step} */
	const char *model, *network;	/* name and text of the .net file */
	int frames, crop, stride;	/* of the schedule's last cell; stride
					 * 0: none, or unknown (0.1.0) */
	const char *init;		/* weights of --init; NULL: none
					 * (train/weights/init.h) */
	const char *order;		/* version of the summation order,
					 * "v1" */
};

/* The rest of a validation that failed or was stopped: all, the second of two
 * measurements of statistics (--precise-bn) and the validation, or the
 * validation alone. */
enum { DUE_ALL = 1, DUE_SECOND, DUE_VALIDATION };

#define CHECKPOINT_FORMAT "1"
#define CHECKPOINT_ROUNDING 1e-6f	/* rounding: a variance may be this far
					 * below 0 */

/* checkpoint_name(p): return the tensor name of a parameter, "model/NAME" or
 * "bn/NAME".  The caller frees it. */
char *checkpoint_name(const struct param *p);

/* checkpoint_finite(path, tensor, n): check that all values of ${n} tensors are
 * finite.  Return 0, or -3 after a message, which names the file ${path}. */
int checkpoint_finite(const char *path, const struct tensor *tensor, size_t n);

/*
 * checkpoint_read(path, file, state):
 * Read and check a whole checkpoint.  Return 0, or after a message
 *
 *	-1	the file cannot be read
 *	-2	it is damaged
 *	-3	it contains NaN or infinity
 *
 * After 0 the texts of ${state} point into ${file}, which the caller frees
 * (safetensors_free).  After a failure there is nothing to free.
 */
int checkpoint_read(const char *path, struct safetensors *file,
    struct state *state);

/* checkpoint_status(bad): return the exit status for such a failure. */
int checkpoint_status(int bad);

/* checkpoint_has_ema(file, path): return 0 if the checkpoint has a moving
 * average of the weights, or -1 after a message. */
int checkpoint_has_ema(const struct safetensors *file, const char *path);

/*
 * checkpoint_load(file, path, n):
 * Load weights and running statistics into net ${n}.
 * checkpoint_load_ema(file, path, n):
 * Load their moving average into net ${n}.
 * Return 0, or -1 after a message if a tensor is missing or has another shape;
 * then ${n} is loaded in part.
 */
int checkpoint_load(const struct safetensors *file, const char *path,
    struct net *n);
int checkpoint_load_ema(const struct safetensors *file, const char *path,
    struct net *n);

/*
 * checkpoint_slots(file, path, slots, whole):
 * Load the optimizer state of all ranks into a new ${whole}, for slots_scatter.
 * ${slots} lists its kinds.  State that the checkpoint lacks, because it was
 * saved with other settings, gets its initial values, after a note.
 * Return 0, or -1 after a message if a tensor is missing or has another shape.
 * After 0 the caller frees ${whole} (slots_forget).
 */
int checkpoint_slots(const struct safetensors *file, const char *path,
    const struct slots *slots, struct slots_whole *whole);

#endif
