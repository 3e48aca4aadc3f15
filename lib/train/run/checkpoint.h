#ifndef TRAIN_RUN_CHECKPOINT_H
#define TRAIN_RUN_CHECKPOINT_H

/*
 * Read checkpoints (vt-checkpoint(5)): a safetensors file with everything that
 * a run needs to resume with the same bits.  Weights are tensors model/NAME,
 * running statistics bn/NAME.  Optimizer state has the names of
 * train/optim/slots.h, such as optim/momentum/NAME.  The rest is metadata,
 * the rows of state.h.  snapshot.h writes checkpoints.
 */

#include "train/optim/slots.h"
#include "train/run/state.h"
#include "weights/safetensors.h"

#define CHECKPOINT_ROUNDING 1e-6f	/* rounding: a variance may be this far
					 * below 0 */

/* checkpoint_name(p): return the tensor name of a parameter, "model/NAME" or
 * "bn/NAME".  The caller frees it. */
char *checkpoint_name(const struct param *p);

/* checkpoint_finite(path, tensor, n, e): check that all values of ${n} tensors
 * are finite.  Return 0, or -3 with a message in ${e}, printed if ${e} is NULL.
 * It names the file ${path}. */
int checkpoint_finite(const char *path, const struct tensor *tensor, size_t n,
    struct error *e);

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
 * checkpoint_load(file, path, n, ema):
 * Load weights and running statistics, or with ${ema} their moving average,
 * into net ${n}.
 * Return 0, or -1 after a message if a tensor is missing or has another shape;
 * then ${n} is loaded in part.
 */
int checkpoint_load(const struct safetensors *file, const char *path,
    struct net *n, int ema);

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
