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

#define SCHEDULE_CYCLE 8	/* shapes a stage can visit in turn */

/* A batch shape, and all that belongs to it. */
struct cell {
	int batch;		/* clips, over all ranks */
	int frames, crop;	/* T; S in pixels */
	int group;		/* clips that share BN statistics */
	int run;		/* 0: a group is consecutive clips; otherwise
				 * groups interleave within each ${run} clips */
	int stride_min, stride_max;	/* frames between frames, drawn per
				 * clip; 0, 0: segments choose the frames */
};

/* Part of a learning rate: what holds while epoch < ${until}. */
struct rate_piece {
	double until;
	double e0, r0, e1, r1;	/* the line through these two points, or */
	int constant;		/* just r0 */
};

/* Epochs ${first} to ${last} - 1; its cells are visited in turn. */
struct stage {
	int first, last;
	int cells;
	struct cell cell[SCHEDULE_CYCLE];
	int pieces;
	struct rate_piece *rate;	/* in order; the last until last */
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
	int stage, turn;	/* which cell: turn counts from the first step
				 * of each epoch and stage */
	double exact_epoch;	/* G(t) / N */
	double rate;
	const struct cell *cell;	/* NULL: the schedule has ended */
};

/*
 * schedule_read(path), schedule_from_table(t):
 * NULL after a message with file, line and column: unknown shapes, gaps,
 * stages out of order, a batch that is not a whole number of groups.
 */
struct schedule *schedule_read(const char *path);
struct schedule *schedule_from_table(const struct table *t);
void schedule_free(struct schedule *s);

/* schedule_text(s): the table as text, the caller's to free; reading it back
 * gives the same schedule, rates to the last bit. */
char *schedule_text(const struct schedule *s);

int schedule_epochs(const struct schedule *s);

/* schedule_rate(s, epoch): the learning rate at an exact epoch. */
double schedule_rate(const struct schedule *s, double epoch);

/*
 * schedule_start(s, samples): the first step, for ${samples} samples.
 * schedule_next(s, samples, at): the step after ${at}.
 * schedule_seek(s, samples, step): step ${step}, by walking from the first.
 */
struct schedule_step schedule_start(const struct schedule *s, uint64_t samples);
struct schedule_step schedule_next(const struct schedule *s, uint64_t samples,
    const struct schedule_step *at);
struct schedule_step schedule_seek(const struct schedule *s, uint64_t samples,
    uint64_t step);

/* schedule_steps(s, samples): how many steps the whole schedule has. */
uint64_t schedule_steps(const struct schedule *s, uint64_t samples);

/*
 * schedule_prefix_hash(s, samples, step):
 * A hash of all that steps 0 to ${step} - 1 depend on: equal for two
 * schedules that agree so far, whatever they say later.
 */
struct hash128 schedule_prefix_hash(const struct schedule *s, uint64_t samples,
    uint64_t step);

/*
 * cell_clip(c, group, i): the place in the batch of clip ${i} of BN group
 * ${group}: group * c->group + i, unless the groups interleave.
 */
int cell_clip(const struct cell *c, int group, int i);

#endif
