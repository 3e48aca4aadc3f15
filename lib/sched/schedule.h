#ifndef SCHED_SCHEDULE_H
#define SCHED_SCHEDULE_H

/*
 * A schedule says, for every step of a run, the shape of the batch, how its
 * clips are grouped for batch normalisation, and the learning rate.  It is a
 * table (vt-schedule(5)); everything here is a function of it.
 *
 * Clips are counted from the start of training without a break: step t trains
 * on clips G(t) to G(t) + B(t) - 1, where G(t) is the sum of the batches
 * before it.  With N samples, clip g belongs to epoch g div N.  A batch may
 * straddle two epochs.  A step belongs to the epoch of its first clip.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/table.h"
#include "sched/lr.h"

/* What a table may say; beyond these a number is a slip. */
enum {
	SCHEDULE_CYCLE = 8,		/* shapes a stage can visit in turn */
	SCHEDULE_STAGES = 10000,
	SCHEDULE_EPOCHS = 1000000,
	SCHEDULE_BATCH = 1 << 24,
	SCHEDULE_FRAMES = 1 << 16,
	SCHEDULE_CROP = 1 << 14
};
#define MOMENTUM_MOST 0.99999
#define SCHEDULE_SAMPLES ((uint64_t)1 << 40)	/* G(t) stays below 2^61 */

/* A batch shape, and all that belongs to it. */
struct cell {
	int batch;		/* clips, over all ranks */
	int frames, crop;	/* T; S in pixels */
	int group;		/* clips that share BN statistics */
	int run;		/* 0: a group is consecutive clips; otherwise
				 * groups interleave within each ${run} clips,
				 * and clip i of them is in group
				 * i mod (run / group) */
	int stride_min, stride_max;	/* frames between frames, drawn per
				 * clip; 0, 0: segments choose the frames */
};

/* Epochs ${epoch_begin} to ${epoch_end} - 1; its cells are visited in turn. */
struct stage {
	int epoch_begin, epoch_end;
	int cells;
	struct cell cell[SCHEDULE_CYCLE];
	int pieces;
	struct lr_piece *lr;	/* [pieces] in order */
	int moves;		/* the schedule says the momentum, too: */
	double momentum;
};

struct schedule {
	char *path;		/* for messages */
	int stages;
	struct stage *stage;	/* in order of epochs, without gaps */
};

/* Where training stands before step ${step}, and what that step is. */
struct schedule_step {
	uint64_t step;		/* t */
	uint64_t clip;		/* G(t) */
	int epoch;		/* of the first clip */
	int stage, turn;	/* cell ${turn} of the stage; the cycle starts
				 * anew with each epoch, so with each stage */
	double exact_epoch;	/* G(t) / N */
	double lr;
	double momentum;	/* -1: the schedule does not say it */
	const struct cell *cell;	/* NULL: the schedule has ended */
};

/*
 * schedule_read(path), schedule_from_table(t):
 * "-" is standard input.  NULL after a message with file, line and column:
 * numbers out of range, gaps, stages or cycles out of order, a batch that is
 * not a whole number of groups, epochs without a learning rate.
 */
struct schedule *schedule_read(const char *path);
struct schedule *schedule_from_table(const struct table *t);
void schedule_free(struct schedule *s);

/*
 * schedule_text(s): the table as text, the caller's to free; reading it back
 * gives the same schedule, learning rates to the last bit.
 * schedule_text_steps(s, samples): the same with the columns steps and clips,
 * which say what each cell gets of a run over that many samples; they are for
 * people, and readers pass over them.
 */
char *schedule_text(const struct schedule *s);
char *schedule_text_steps(const struct schedule *s, uint64_t samples);

/* schedule_moves(s): the momentum is the schedule's: it says one in each stage. */
int schedule_moves(const struct schedule *s);

int schedule_epochs(const struct schedule *s);

/* schedule_stage(s, epoch): the stage an epoch belongs to; the last for
 * epochs after it. */
const struct stage *schedule_stage(const struct schedule *s, int epoch);

/*
 * schedule_start(s, samples): the first step, for ${samples} samples, 1 to
 * SCHEDULE_SAMPLES.
 * schedule_next(s, samples, at): the step after ${at}; after the last step,
 * ${at} again.
 * schedule_seek(s, samples, step): step ${step}, as a walk from the first
 * would find it, in time proportional to its epochs; after the last step,
 * where the walk ends.
 */
struct schedule_step schedule_start(const struct schedule *s, uint64_t samples);
struct schedule_step schedule_next(const struct schedule *s, uint64_t samples,
    const struct schedule_step *at);
struct schedule_step schedule_seek(const struct schedule *s, uint64_t samples,
    uint64_t step);

/* schedule_steps(s, samples): how many steps the whole schedule has. */
uint64_t schedule_steps(const struct schedule *s, uint64_t samples);

/*
 * schedule_count(s, samples, steps):
 * Write to ${steps}[s->stages][SCHEDULE_CYCLE] how many steps each cell gets.
 */
void schedule_count(const struct schedule *s, uint64_t samples,
    uint64_t (*steps)[SCHEDULE_CYCLE]);

/*
 * schedule_prefix_hash(s, samples, step):
 * A hash of ${samples} and of all that steps 0 to ${step} - 1 depend on: the
 * cell, its place among the clips, and the learning rate, to the last bit.
 * Equal for two schedules that agree so far, whatever they say later and
 * however their tables are cut into stages.  Takes some 20 ms for a million
 * steps.
 */
struct hash128 schedule_prefix_hash(const struct schedule *s, uint64_t samples,
    uint64_t step);

/*
 * cell_clip(c, group, i): the place in the batch of clip ${i} of BN group
 * ${group}: group * c->group + i, unless the groups interleave.
 */
int cell_clip(const struct cell *c, int group, int i);

/*
 * cell_cost(c): frames * crop * crop, the input of one clip.  The work of a
 * network is proportional to it but for the rounding of feature maps, which
 * makes small crops 2 to 5 % dearer.
 */
double cell_cost(const struct cell *c);

#endif
