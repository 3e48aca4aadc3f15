#ifndef SCHED_SCHEDULE_H
#define SCHED_SCHEDULE_H

/*
 * A schedule defines for every step of a run the shape of the batch, its groups
 * for batch normalization, and the learning rate.  It is a table
 * (vt-schedule(5)), and all functions here depend on it alone.
 *
 * Clips are numbered from the start of training.  Step t trains on clips G(t)
 * to G(t) + B(t) - 1, where G(t) is the sum of the batches before it.  With N
 * samples, clip g belongs to epoch g div N.  A batch may span two epochs; its
 * step belongs to the epoch of its first clip.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/table.h"
#include "sched/lr.h"

/* Limits of a table; larger values are treated as mistakes. */
enum {
	SCHEDULE_CYCLE = 8,		/* cells of a stage */
	SCHEDULE_STAGES = 10000,
	SCHEDULE_EPOCHS = 1000000,
	SCHEDULE_BATCH = 1 << 24,
	SCHEDULE_FRAMES = 1 << 16,
	SCHEDULE_CROP = 1 << 14
};
#define MOMENTUM_MAX 0.99999
#define SCHEDULE_SAMPLES ((uint64_t)1 << 40)	/* so that G(t) < 2^61 */

/* A batch shape and its properties. */
struct cell {
	int batch;		/* clips, over all ranks */
	int frames, crop;	/* T; S in pixels */
	int group;		/* clips that share BN statistics */
	/*
	 * 0: a group is consecutive clips.  Otherwise groups interleave within
	 * each ${run} clips: clip i of them is in group i mod (run / group).
	 */
	int run;
	/*
	 * Distance of frames, drawn per clip from this range.  Both 0: segments
	 * choose the frames.
	 */
	int stride_min, stride_max;
};

/* Epochs ${epoch_begin} to ${epoch_end} - 1.  Steps take its cells in turn. */
struct stage {
	int epoch_begin, epoch_end;
	int cells;
	struct cell cell[SCHEDULE_CYCLE];
	int pieces;
	struct lr_piece *lr;	/* [pieces] in order */
	int sets_momentum;		/* 1: use ${momentum}, too */
	double momentum;
};

struct schedule {
	char *path;		/* for messages */
	int stages;
	struct stage *stage;	/* in order of epochs, without gaps */
};

/* The state before step ${step}, and the properties of that step. */
struct schedule_step {
	uint64_t step;		/* t, from 0 */
	uint64_t clip;		/* G(t): first clip */
	int epoch;		/* of the first clip */
	/*
	 * The step takes cell ${cycle_position} of the stage.  Each epoch
	 * restarts the short cycle.
	 */
	int stage, cycle_position;
	double exact_epoch;	/* G(t) / N */
	double lr;
	double momentum;	/* -1: not set by the schedule */
	const struct cell *cell;	/* NULL: the schedule has ended */
};

/*
 * schedule_read(path):
 * Read a schedule from a file; "-" is standard input.  Return NULL after a
 * message with file, line and column.  Errors are numbers out of range, gaps,
 * stages or cycles out of order, batches that are not a whole number of groups,
 * and epochs without a learning rate.  The caller frees it by schedule_free.
 *
 * schedule_from_table(t):
 * Do the same for a table in memory.  The caller keeps ${t}.
 *
 * schedule_free(s):
 * Free ${s}.  Do nothing if it is NULL.
 */
struct schedule *schedule_read(const char *path);
struct schedule *schedule_from_table(const struct table *t);
void schedule_free(struct schedule *s);

/*
 * schedule_text(s):
 * Return the table as text.  Reading it back gives the same schedule, with the
 * same bits of learning rates.  The caller frees it.
 *
 * schedule_text_steps(s, samples):
 * Return the same with the columns steps and clips of each cell in a run over
 * ${samples} samples.  Readers ignore these columns.  The caller frees it.
 */
char *schedule_text(const struct schedule *s);
char *schedule_text_steps(const struct schedule *s, uint64_t samples);

/*
 * schedule_sets_momentum(s): return 1 if the schedule sets the momentum of each
 * stage.
 */
int schedule_sets_momentum(const struct schedule *s);

/* schedule_epochs(s): return the number of epochs. */
int schedule_epochs(const struct schedule *s);

/*
 * schedule_stage(s, epoch):
 * Return the stage of an epoch; the last stage for epochs after the end.
 */
const struct stage *schedule_stage(const struct schedule *s, int epoch);

/*
 * schedule_cell(s, c):
 * Return the cell after ${c}, in the order of the table, or the first one if
 * ${c} is NULL.  Return NULL after the last.
 */
const struct cell *schedule_cell(const struct schedule *s,
    const struct cell *c);

/*
 * schedule_start(s, samples):
 * Return the first step for ${samples} samples, 1 to SCHEDULE_SAMPLES.
 *
 * schedule_next(s, samples, at):
 * Return the step after ${at}.  Its cell is NULL after the last step; ${at} is
 * returned then.
 *
 * schedule_seek(s, samples, step):
 * Return step ${step}, with the result of repeated schedule_next, in time
 * proportional to the epochs before.
 */
struct schedule_step schedule_start(const struct schedule *s, uint64_t samples);
struct schedule_step schedule_next(const struct schedule *s, uint64_t samples,
    const struct schedule_step *at);
struct schedule_step schedule_seek(const struct schedule *s, uint64_t samples,
    uint64_t step);

/* schedule_steps(s, samples): return the number of steps of the schedule. */
uint64_t schedule_steps(const struct schedule *s, uint64_t samples);

/*
 * schedule_count(s, samples, steps):
 * Write the number of steps of each cell to
 * ${steps}[s->stages][SCHEDULE_CYCLE].
 */
void schedule_count(const struct schedule *s, uint64_t samples,
    uint64_t (*steps)[SCHEDULE_CYCLE]);

/*
 * schedule_prefix_hash(s, samples, step):
 * Return a hash of ${samples} and of all that steps 0 to ${step} - 1 depend on:
 * the cells, the numbers of their clips, and the bits of the learning rates and
 * momentums.  It is equal for two schedules that agree up to that step.  Later
 * steps, and the division into stages, have no influence.  It takes about 20 ms
 * for a million steps.
 */
struct hash128 schedule_prefix_hash(const struct schedule *s, uint64_t samples,
    uint64_t step);

/*
 * schedule_difference(was, now, samples, steps):
 * Describe the first difference of two schedules within ${steps} steps, such as
 * "schedule: in step 3 (epoch 1.00) batch was 24 and is 12 now".  Return NULL
 * if they agree.  The caller frees the text.
 */
char *schedule_difference(const struct schedule *was,
    const struct schedule *now, uint64_t samples, uint64_t steps);

/*
 * cell_clip(c, group, i):
 * Return the index in the batch of clip ${i} of BN group ${group}: group *
 * c->group + i, unless the groups interleave.
 */
int cell_clip(const struct cell *c, int group, int i);

/*
 * cell_cost(c):
 * Return frames * crop * crop, the input size of one clip.  The work of a
 * network is proportional to it, except for the rounding of feature maps.  That
 * makes small crops 2 to 5 % more expensive.
 */
double cell_cost(const struct cell *c);

#endif
