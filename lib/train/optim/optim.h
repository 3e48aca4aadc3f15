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

/* A step that optim_ask has begun. */
struct optim_update {
	struct net *n;
	void *g;			/* the gradient, then the direction */
	double lr;
	double mean;			/* factor of the statistics, and, without
					 * loss scale and clipping, of ${g} */
	double scale;			/* factor of ${g}; 0: the verdict's */
	int launched;
};

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
	double *trust;			/* [nparam] ratios, on the host */
	double *ratio;			/* [nparam] in device memory; NULL: the
					 * optimiser has none */
	struct portions own;
	const struct segments *share;
	struct segments alone;		/* if no share was given */
	struct segments dealt;		/* of learners, if they keep something */
	struct comm *self;
	struct gathering *gather;		/* of what share cuts */
	struct device *device;
	struct verdict *verdict;	/* in device memory; NULL if the host
					 * decides */
	struct optim_update update;
	struct verdict heard;		/* on it, once known here */
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
 * A step has two parts, so that the host need not wait between the gradient and
 * the update.  Collective: all ranks call both.
 *
 * optim_ask(o, n, g, scale, lr, losses):
 * Begin a step on the mean gradient ${g} * ${scale}.  This rank needs the elements
 * that it owns; they are used up.  Running statistics are tracked.  With a loss
 * scale, ${g} is that times larger, except for the statistics.
 * With ${losses}, launch the update now; it is made only if none of them is lost.
 * This rank must own all elements then.  If ${losses} is NULL, or the device cannot
 * look at them, optim_hear launches it.
 *
 * optim_hear(o, norm):
 * Finish the step.  The caller has found the losses of all ranks to be good: an
 * update that was refused because of ${losses} is launched again without them.
 * All ranks have all new weights then, the same bits for any number of ranks.
 * ${*norm} is the norm of the mean gradient before clipping (Pascanu et al.
 * 2013, as PyTorch's clip_grad_norm_).  Return 0; or, on all ranks and with
 * nothing changed, OPTIM_GRADIENT if the norm is not finite, OPTIM_STATISTICS if
 * a mean or variance of the step is not; or OPTIM_LOST if another rank cannot be
 * reached.  OPTIM_SKIPPED: the gradient was not finite, which may be because of the
 * loss scale, which has been lowered; nothing else has changed.
 *
 * optim_step(o, n, g, scale, lr, norm): both, without losses.
 */
enum { OPTIM_GRADIENT = 1, OPTIM_STATISTICS, OPTIM_LOST, OPTIM_SKIPPED };

struct losses {
	const struct outcome *outcome;	/* [n] in device memory */
	size_t n;
	double most;			/* a loss beyond it, or NaN, is lost */
	const float *lost;		/* in device memory, not 0 if another
					 * rank's is (bucket_lost); NULL: there
					 * are no other ranks */
};

void optim_ask(struct optim *o, struct net *n, void *g, double scale, double lr,
    const struct losses *losses);
int optim_hear(struct optim *o, double *norm);
int optim_step(struct optim *o, struct net *n, void *g, double scale, double lr,
    double *norm);

/* optim_finite(o, n): on all ranks, weights, running statistics and slots are;
 * all ranks call it.  -1 if another rank cannot be reached. */
int optim_finite(struct optim *o, const struct net *n);

/* optim_loss_scale(o): what the loss of the next step is to be multiplied by. */
double optim_loss_scale(const struct optim *o);

/* optim_swap(o, n): the weights and statistics of ${n} change places with their
 * moving average; all ranks call it.  -1 if another cannot be reached. */
int optim_swap(struct optim *o, struct net *n);

#endif
