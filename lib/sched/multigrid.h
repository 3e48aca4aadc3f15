#ifndef SCHED_MULTIGRID_H
#define SCHED_MULTIGRID_H

/*
 * Makes multigrid schedules (Wu et al., "A Multigrid Method for Efficiently
 * Training Video Models", CVPR 2020, section 3).  They change the shape of a
 * batch, B clips of T frames of S x S pixels.  B * T * S * S stays about the
 * same, so that every step costs the same and coarse steps see more clips.  The
 * long cycle varies T and S over the epochs between two milestones of the
 * learning rate.  The short cycle varies S from step to step.
 *
 * Rounding and order of operations are those of PySlowFast (utils/multigrid.py,
 * datasets/multigrid_helper.py), so that shapes, epochs and learning rates are
 * equal to the last bit.  vt-schedule(1) derives the rule.
 */

#include "sched/schedule.h"

/* A shape of the long cycle, relative to the base shape. */
struct long_factor { double frames, crop; };

struct multigrid {
	int batch, frames, crop;	/* B0, T0, S0: the base shape */
	int stride;			/* of the base shape; 0: segments */
	int epochs;			/* E: epochs without cycles */
	int milestones;			/* J - 1: number of milestones */
	const int *milestone;		/* [falls] milestones: epochs below E,
					 * rising */
	/*
	 * [falls + 1] Learning rates before, between and after the milestones,
	 * relative to ${lr}.
	 */
	const double *factor;
	double lr;			/* for the base batch */
	/*
	 * LR_FLAT: decay by ${factor} at the milestones.  Other kinds decay
	 * from ${lr} at epoch 0 to ${lr_end} at the last epoch; milestones then
	 * only begin a new long cycle.
	 */
	enum rate_kind decay;
	int power;			/* of LR_POWER */
	double lr_end;
	double epoch_factor;		/* epochs with cycles, divided by E */
	/* Length of a linear warm-up, 0: none; its first learning rate. */
	double warmup_epochs, warmup_lr;
	enum rate_hold {
		HOLD_NONE,		/* both change in each step */
		HOLD_DECAY,		/* the decay holds for an epoch, and the
					 * warm-up multiplies it */
		HOLD_ALL		/* the warm-up holds, too, and reaches 1
					 * in its last epoch (mmengine) */
	} hold;
	int longs;			/* shapes of the long cycle; 0: none */
	const struct long_factor *long_factor;
	int shorts;			/* crops before the stage's; 0: none */
	const double *short_factor;	/* [shorts] relative to S0 */
	/*
	 * 1: after the last milestone, train at the last shape of the long
	 * cycle.
	 */
	int fine_tune;
};

/*
 * multigrid_schedule(m):
 * Return the schedule of ${m}.  Its cells have no BN groups yet
 * (sched/group.h).  Return NULL after a message if ${m} gives no schedule.  The
 * caller frees it by schedule_free.
 */
struct schedule *multigrid_schedule(const struct multigrid *m);

#endif
