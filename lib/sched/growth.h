#ifndef SCHED_GROWTH_H
#define SCHED_GROWTH_H

/*
 * Batch-size control (Mikami et al., "Massively Distributed SGD: ImageNet/
 * ResNet-50 Training in a Flash", 2018, section 2.1): the batch grows at chosen
 * epochs, to leave sharp minima at first and to be fast later.
 *
 * The noise of stochastic gradient descent has the scale
 *
 *	lr N / (B (1 - m))
 *
 * with N samples, a batch of B and momentum m (Smith and Le, "A Bayesian
 * Perspective on Generalization and Stochastic Gradient Descent", 2018).  Where
 * B grows k-fold it is kept by k times the learning rate, or by the momentum
 * 1 - (1 - m) / k; with neither it falls, as it does where the learning rate
 * decays (Smith et al., "Don't Decay the Learning Rate, Increase the Batch
 * Size", 2018).
 */

#include "sched/schedule.h"

enum follow { FOLLOW_LR, FOLLOW_MOMENTUM, FOLLOW_NONE };

/* From ${epoch} on, a base batch of ${batch}. */
struct growth_at { int epoch, batch; };

/*
 * schedule_grow(s, base, at, n, follow, momentum):
 * Cut ${s}, which was made for a base batch of ${base} and has no BN groups yet,
 * at the ${n} epochs ${at}, in rising order, and multiply the batch of each cell
 * from there on.  ${momentum} is that of the first stage, which the schedule
 * says then, for FOLLOW_MOMENTUM.  -1 after a message if an epoch is not
 * within the schedule or in its warm-up, or a batch would not be whole.
 */
int schedule_grow(struct schedule *s, int base, const struct growth_at *at,
    int n, enum follow follow, double momentum);

#endif
