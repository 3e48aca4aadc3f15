#ifndef SCHED_GROWTH_H
#define SCHED_GROWTH_H

/*
 * Batch growth (Mikami et al., "Massively Distributed SGD: ImageNet/ResNet-50
 * Training in a Flash", 2018, section 2.1): the batch grows at chosen epochs.
 * Small batches avoid sharp minima at first; large ones are fast later.
 *
 * The noise scale of stochastic gradient descent is
 *
 *	lr N / (B (1 - m))
 *
 * with N samples, batch B and momentum m.  Source: Smith and Le, "A Bayesian
 * Perspective on Generalization and Stochastic Gradient Descent", 2018.  Let B
 * grow by a factor k.  A learning rate of k lr preserves the scale, as does a
 * momentum of 1 - (1 - m) / k.  Without either it falls, as it does when the
 * learning rate decays.  Source: Smith et al., "Don't Decay the Learning Rate,
 * Increase the Batch Size", 2018.
 */

#include "sched/schedule.h"

/* Hyperparameter that is scaled with the batch. */
enum follow { FOLLOW_LR, FOLLOW_MOMENTUM, FOLLOW_NONE };

/* A base batch of ${batch} from epoch ${epoch}. */
struct growth_at { int epoch, batch; };

/*
 * schedule_grow(s, base, at, n, follow, momentum):
 * Grow the batches of ${s}, which was made for a base batch of ${base} and has
 * no BN groups yet.  Split it at the ${n} epochs ${at}, in rising order, and
 * multiply the batches of all later cells.  ${momentum} is that of the first
 * stage for FOLLOW_MOMENTUM; the schedule then sets the momentum of each stage.
 * Return 0, or -1 after a message.  Errors are an epoch outside the schedule or
 * in its warm-up, and a batch, learning rate or momentum out of range.  ${s} is
 * then partly changed; the caller frees it.
 */
int schedule_grow(struct schedule *s, int base, const struct growth_at *at,
    int n, enum follow follow, double momentum);

#endif
