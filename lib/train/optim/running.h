#ifndef TRAIN_OPTIM_RUNNING_H
#define TRAIN_OPTIM_RUNNING_H

/*
 * Running statistics of batch normalization, with the rate m that the operator
 * calls momentum.  A step has the means u_i and the unbiased variances s_i of
 * its groups; E is the mean over the groups.
 *
 * By default (--bn-running=mean)
 *
 *	mean += m (E[u] - mean)		var += m (E[s] - var)
 *
 * which is what DistributedDataParallel keeps, on average over its ranks.
 *
 * --bn-running=aggregate adds the variance between the means of the groups, as
 * in PySlowFast's sub-batch normalization (models/batchnorm_helper.py).  That
 * program keeps running statistics for each split, and aggregates them as the
 * mean of the variances + the variance of the running means.  Here a group has
 * no identity, because the number of groups of a batch changes with its shape.
 * So the between-group variance b is the expectation over all orders of the
 * groups, in which a group's mean and a running mean are independent:
 *
 *	b = (1 - m)^2 b + m^2 (E[u^2] - E[u]^2)		var = (var of above) + b
 *
 * That program has the same value after one step, and on average after more.
 * Running means vary less than means: b tends to m / (2 - m) of the variance
 * between groups, 1/19 of it for m = 0.1.  The statistics that
 * train/loop/precise.h measures contain all of it.
 *
 * The network must have the parameters PARAM_BETWEEN (graph_between), whose
 * gradient is E[(u - mean)^2].  So the sum over ranks remains linear; every
 * rank then subtracts the square of E[u] - mean, when it has all sums.
 */

#include "net/net.h"

/*
 * The statistics of a normalization layer: mean, variance and between-group
 * variance are stored one after another.
 */
struct running_place {
	size_t at, n;			/* elements of the weights, of all
					 * three */
	size_t var, between, count;	/* offsets within them; elements of
					 * one */
	size_t kept;			/* offset in running->kept */
	double rate;			/* m */
};

/* The statistics before a step.  It is empty without aggregation. */
struct running {
	int n;				/* normalization layers */
	struct running_place *place;	/* [n] */
	struct device *device;
	void *kept;			/* in device memory; NULL: none */
	double *was, *now;		/* [largest place->n] scratch */
};

/*
 * running_open(r, n): find the layers of net ${n}, which must outlive ${r}, and
 * allocate the copy.  Return 0, or -1 after a message.  running_close frees it,
 * also after a failure.
 */
int running_open(struct running *r, const struct net *n);
void running_close(struct running *r);

/*
 * running_factors(g, p, factor): set ${factor} to the factors on rate and scale
 * for the running statistic ${p}.  device_track updates it by them from its
 * gradient.  Its rate must be 1 and its scale must make the gradient a mean.
 */
void running_factors(const struct graph *g, const struct param *p,
    double factor[2]);

/*
 * running_before(r, n), running_after(r, n): call them before and after the
 * tracking of a step.  running_before launches a copy of the statistics on the
 * device.  running_after subtracts the nonlinear terms of the variances, and
 * waits for the device.  Do not call it for a skipped step.
 */
void running_before(struct running *r, const struct net *n);
void running_after(struct running *r, struct net *n);

#endif
