#ifndef SCHED_MULTIGRID_H
#define SCHED_MULTIGRID_H

/*
 * Schedules by rule.  Multigrid training (Wu et al., "A Multigrid Method for
 * Efficiently Training Video Models", CVPR 2020, section 3) changes the shape
 * of the batch, B clips of T frames of S x S pixels, while B * T * S * S stays
 * about the same, so that every step costs the same and coarse steps see more
 * clips.  The long cycle goes through T and S over the epochs between two
 * falls of the learning rate, the short cycle through S from step to step.
 *
 * The rounding and the order of operations are PySlowFast's
 * (utils/multigrid.py, datasets/multigrid_helper.py), so that shapes, epochs
 * and learning rates are equal to the last bit.  vt-schedule(1) derives the
 * rule.
 */

#include "sched/schedule.h"

/* A shape of the long cycle, relative to the base shape. */
struct long_factor { double frames, crop; };

struct multigrid {
	int batch, frames, crop;	/* B0, T0, S0: the base shape */
	int stride;			/* at the base shape; 0: segments */
	int epochs;			/* of the schedule without cycles, E */
	int falls;			/* of the learning rate, J - 1 */
	const int *fall;		/* [falls] at these epochs of E, rising */
	const double *factor;		/* [falls + 1] the learning rate before, between
					 * and after them, relative to lr */
	double lr;			/* for the base batch */
	enum rate_kind decay;		/* LR_FLAT: by the factors; otherwise
					 * from lr at epoch 0 to lr_end at the
					 * last, whatever the falls, which only
					 * begin another long cycle then */
	int power;			/* of LR_POWER */
	double lr_end;
	double epoch_factor;		/* epochs with cycles over E */
	double warmup_epochs, warmup_lr;	/* from that learning rate; 0: none */
	int longs;			/* shapes of the long cycle; 0: none */
	const struct long_factor *long_factor;
	int shorts;			/* crops before the stage's own; 0: none */
	const double *short_factor;	/* relative to S0 */
	int fine_tune;			/* train at the last shape of the long
					 * cycle after the last fall */
};

/*
 * multigrid_schedule(m): the schedule, its cells without BN groups (sched/
 * group.h sets them); schedule_free frees it.  NULL after a message if the
 * numbers give no schedule.
 */
struct schedule *multigrid_schedule(const struct multigrid *m);

/*
 * multigrid_batch(m, frames, crop):
 * How many clips of that shape equal one of the base shape: V0 / (T * S * S)
 * with V0 = T0 * S0 * S0, rounded half to even.
 */
int multigrid_batch(const struct multigrid *m, int frames, double crop);

/*
 * multigrid_short(m, crop, i):
 * How many times the batch of a stage whose crop is ${crop} step ${i} of the
 * short cycle holds: (S / (f * S0)) squared, rounded half to even, with f the
 * ${i}th short factor; 1 for the last step, which takes the stage's own crop.
 */
int multigrid_short(const struct multigrid *m, int crop, int i);

#endif
