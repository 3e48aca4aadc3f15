#ifndef TRAIN_OPTIM_OPTIM_H
#define TRAIN_OPTIM_OPTIM_H

/*
 * Steps of an optimiser (train/optim/optimizer.h), over groups of parameters that
 * take the learning rate and the weight decay differently; and what goes with
 * them: clipping, the scale of the loss, the moving average of the weights.
 *
 * Each rank updates the elements that it owns and then has the others' from
 * them, so that P ranks do not do P times the work, nor keep the optimiser's
 * state P times.
 */

#include "train/optim/groups.h"
#include "train/optim/optimizer.h"
#include "train/optim/portions.h"
#include "train/optim/running.h"
#include "train/reduce/detour.h"
#include "train/optim/tiles.h"

struct optim {
	const struct optimizer *kind;	/* NULL: the first one */
	struct optimizer_settings set;
	const struct group_rule *rule;	/* NULL: the first one */
	double clip;			/* largest gradient norm; 0: any */
	double clip_value;		/* largest element of it; 0: any */
	double ema;			/* decay of the weights' moving average;
					 * 0: there is none */
	int outer;			/* what learners change has a momentum
					 * (train/learn/learners.h) */
	int learners;			/* each keeps what is the optimiser's
					 * own; 0: it does not */
	double loss_scale;		/* where it is not dynamic; 0: 1 */
	int dynamic_scale;		/* train/optim/loss_scale.h */
	int scale_every;		/* steps until it is doubled; 0:
					 * LOSS_SCALE_EVERY */

	double waited;			/* seconds of the last step, for other
					 * ranks */
	struct slot_kind list[SLOTS_MOST + 1];	/* what is kept in all */
	int ema_slot, scale_slot, outer_slot;	/* of the list; -1: not there */
	struct slots slots;
	struct tiles tiles;
	struct running running;
	double *norm[2], *trust;	/* [nparam] of weights and directions */
	double *ratio;			/* [nparam] trust, of the device's; NULL:
					 * the optimiser has none */
	struct portions own;
	const struct segments *share;
	struct segments alone;		/* if no share was given */
	struct segments dealt;		/* of learners, if they keep something */
	struct comm *self;
	struct gathering *gather;		/* of what share cuts */
	struct device *device;
	struct verdict *verdict;	/* the device's, on a step that was asked
					 * for; NULL: it gives none */
};

/* optim_like(o, of): copy the settings of ${of} to the empty ${o}, except those
 * that all learners share. */
void optim_like(struct optim *o, const struct optim *of);

/*
 * optim_open(o, n, share): everything but the settings; the slots with their
 * first values.  ${share} says which elements this rank updates, and must
 * outlive ${o}; NULL: all of them.  -1 after a message.
 */
int optim_open(struct optim *o, const struct net *n,
    const struct segments *share);
void optim_close(struct optim *o);

/*
 * optim_step(o, n, g, scale, lr, norm):
 * One step on the mean gradient ${g} * ${scale}, of which this rank needs the
 * elements that it owns, and which is used up; running statistics are tracked.
 * Where there is a scale of the loss, ${g} is that times larger, but for the
 * statistics.  All ranks call it, and have all new weights then, the same bits
 * for any number of ranks.
 * ${*norm} is the norm of the mean gradient before clipping (Pascanu et al.
 * 2013, as PyTorch's clip_grad_norm_).  Return 0; or, on all ranks and with
 * nothing changed, OPTIM_GRADIENT if the norm is not finite, OPTIM_STATISTICS if
 * a mean or variance of the step is not; or OPTIM_LOST if another rank cannot be
 * reached.  OPTIM_SKIPPED: the gradient was not finite, which may be the scale
 * of the loss: that is smaller now, and nothing else has changed.
 */
enum { OPTIM_GRADIENT = 1, OPTIM_STATISTICS, OPTIM_LOST, OPTIM_SKIPPED,
    OPTIM_UNMADE };			/* that is optim_hear's alone */

int optim_step(struct optim *o, struct net *n, void *g, double scale,
    double lr, double *norm);

/*
 * The same in two parts, so that the host need not wait between a gradient and
 * the update: the device finds out whether a step is to be made.
 *
 * optim_asks(o): it can, for this optimiser, where the device has all of the
 * gradient, which is the same on all ranks then, and owned by each.
 * optim_ask(o, n, g, scale, lr, losses): make it, if no loss stands against it.
 * optim_hear(o, n, norm): what optim_step would have returned, and is to be known
 * before the next one: it waits, and ends what aggregated statistics need.
 * OPTIM_UNMADE: nothing was done, for the sake of a loss or of another rank; the
 * gradient is as it was.
 */
struct losses {
	const struct outcome *outcome;	/* of the device's */
	size_t n;
	double most;			/* beyond it nothing is done */
	const float *lost;		/* those of all ranks (bucket_lost);
					 * NULL: there are no others */
};

int optim_asks(const struct optim *o);
void optim_ask(struct optim *o, struct net *n, void *g, double scale, double lr,
    const struct losses *losses);
int optim_hear(struct optim *o, struct net *n, double *norm);

/* optim_finite(o, n): on all ranks, weights, running statistics and slots are;
 * all ranks call it.  -1 if another rank cannot be reached. */
int optim_finite(struct optim *o, const struct net *n);

/* optim_loss_scale(o): what the loss of the next step is to be multiplied by. */
double optim_loss_scale(const struct optim *o);

/* optim_swap(o, n): the weights and statistics of ${n} change places with their
 * moving average; all ranks call it.  -1 if another cannot be reached. */
int optim_swap(struct optim *o, struct net *n);

#endif
