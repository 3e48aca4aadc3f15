#ifndef TRAIN_OPTIM_OPTIM_H
#define TRAIN_OPTIM_OPTIM_H

/*
 * Steps of an optimizer (train/optim/optimizer.h) over parameter groups, and
 * the functions around a step: gradient clipping, loss scale, EMA of the
 * weights.
 *
 * Each rank updates the elements that it owns, then gathers those of the other
 * ranks (ZeRO stage 1).  So P ranks neither do the work P times nor keep P
 * copies of the optimizer state.
 */

#include "train/optim/groups.h"
#include "train/optim/optimizer.h"
#include "train/optim/running.h"
#include "train/reduce/host_staging.h"
#include "train/optim/norm_blocks.h"

/* The step that optim_begin has begun. */
struct optim_update {
	struct net *n;
	void *g;			/* the gradient, then the direction */
	double lr;
	double mean;			/* factor of the statistics; without
					 * loss scale and clipping also of
					 * ${g} */
	double scale;			/* factor of ${g}; 0: take the factor of
					 * the found_inf check */
	int launched;			/* 1: the update has been launched */
};

/* An optimizer and its state.  The caller sets the fields before ${waited}. */
struct optim {
	const struct optimizer *kind;	/* NULL: the first of the table */
	struct optimizer_settings set;
	const struct group_rule *rule;	/* NULL: the first of the table */
	double clip;			/* largest gradient norm; 0: no limit */
	double clip_value;		/* largest gradient element; 0: no
					 * limit */
	double ema;			/* decay of the EMA of the weights; 0:
					 * no EMA */
	int learners;			/* learners with an optimizer state
					 * each; 0: one state */
	double loss_scale;		/* constant loss scale; 0: 1 */
	int dynamic_scale;		/* 1: dynamic
					 * (train/optim/loss_scale.h) */
	int scale_every;		/* steps until it doubles; 0:
					 * LOSS_SCALE_EVERY */

	double waited;			/* seconds that the last step waited for
					 * other ranks */
	struct slot_kind list[SLOTS_MAX + 1];	/* all optimizer state */
	int ema_slot, scale_slot;	/* index in ${list}; -1: absent */
	struct slots slots;
	struct norm_blocks tiles;
	struct running running;
	double *trust;			/* [nparam] trust ratios on the host */
	double *ratio;			/* [nparam] in device memory; NULL:
					 * none */
	void *swap;			/* [EMA_SWAP] bytes of device memory for
					 * optim_swap; NULL: no EMA */
	struct owned_shards own;
	const struct segments *share;	/* who owns which elements */
	struct segments alone;		/* used if optim_open got no segments */
	struct segments distributed;	/* optimizer state of learners */
	struct comm *self;
	struct allgather *gather;		/* of vectors whose owners
						 * ${share} lists */
	struct device *device;
	struct step_check *check;	/* found_inf check in device memory;
					 * NULL: the host checks */
	struct optim_update update;
	struct step_check result;	/* its copy on the host, once known */
};

/*
 * optim_like(o, of): initialize ${o} with the settings of ${of}, except those
 * that all learners share.
 */
void optim_like(struct optim *o, const struct optim *of);

/*
 * optim_open(o, n, share):
 * Allocate and initialize ${o} for net ${n}.  The caller has filled in the
 * settings, the fields before ${waited}, and zeros elsewhere.  ${share} states
 * which elements this rank updates and must outlive ${o}, as ${n} must; NULL:
 * all elements.  optim_close frees ${o}, also after a failure.
 * Return 0, or -1 after a message.
 */
int optim_open(struct optim *o, const struct net *n,
    const struct segments *share);
void optim_close(struct optim *o);

/*
 * A step has two parts, so that the host need not wait between the gradient and
 * the update.  Collective: all ranks call both.
 *
 * optim_begin(o, n, g, scale, lr, losses):
 * Begin a step on the mean gradient ${g} * ${scale}.  ${g} need only be valid
 * in the elements that this rank owns; they are overwritten.  Running
 * statistics are tracked.  With a loss scale, ${g} is larger by that factor,
 * except in the statistics.
 * With ${losses}, launch the update now; it executes only if each loss is at
 * most ${losses}->most.  This rank must own all elements then.  If ${losses} is
 * NULL, or the device cannot check them, optim_finish launches the update.
 *
 * optim_finish(o, norm):
 * Finish the step.  The caller has found that the losses of all ranks are good:
 * an update that was skipped because of ${losses} is launched again without
 * them.  Afterwards all ranks have all new weights, the same bits for any
 * number of ranks.  ${*norm} is the norm of the mean gradient before clipping
 * (Pascanu et al. 2013; PyTorch's clip_grad_norm_).
 * Return 0 after an update.  With one of the following values, which are the
 * same on all ranks, no weight, statistic or moment has changed:
 *	OPTIM_GRADIENT    the norm is not finite
 *	OPTIM_STATISTICS  a mean or variance of the step is not finite
 *	OPTIM_SKIPPED     the gradient is not finite, perhaps because of the
 *	                  loss scale, which has been lowered
 * Return OPTIM_LOST after a message if another rank cannot be reached.
 *
 * optim_step(o, n, g, scale, lr, norm): both, without losses.
 */
enum { OPTIM_GRADIENT = 1, OPTIM_STATISTICS, OPTIM_LOST, OPTIM_SKIPPED };

/* The losses of a step, which the device checks before the update. */
struct losses {
	const struct outcome *outcome;	/* [n] in device memory */
	size_t n;
	double max;			/* skip the step if a loss exceeds it or
					 * is NaN */
	const float *found_inf;		/* in device memory: not 0 if a loss of
					 * another rank is bad
					 * (bucket_found_inf);
					 * NULL: one rank */
};

void optim_begin(struct optim *o, struct net *n, void *g, double scale,
    double lr, const struct losses *losses);
int optim_finish(struct optim *o, double *norm);
int optim_step(struct optim *o, struct net *n, void *g, double scale, double lr,
    double *norm);

/*
 * optim_finite(o, n): return 1 if all weights, running statistics and optimizer
 * state of all ranks are finite, else 0.  Return -1 after a message if another
 * rank cannot be reached.  Collective: all ranks call it.
 */
int optim_finite(struct optim *o, const struct net *n);

/* optim_loss_scale(o): return the factor on the loss of the next step. */
double optim_loss_scale(const struct optim *o);

/*
 * optim_swap(o, n): exchange weights and statistics of ${n} with their EMA
 * (ema_swap).  Collective: all ranks call it.  Return 0, or -1 after a message
 * if another rank cannot be reached.
 */
int optim_swap(struct optim *o, struct net *n);

#endif
