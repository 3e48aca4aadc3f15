#ifndef TRAIN_OPTIM_RUNNING_H
#define TRAIN_OPTIM_RUNNING_H

/*
 * Running statistics of batch normalisation, with the rate m that the operator
 * calls momentum.  A step has the means u_i and the unbiased variances s_i of
 * its groups; E is the mean over them.
 *
 * By default (--bn-running=mean)
 *
 *	mean += m (E[u] - mean)		var += m (E[s] - var)
 *
 * which is what DistributedDataParallel keeps on average over its ranks.
 *
 * aggregate: the variance between the groups' means belongs to it, too, as in
 * PySlowFast's sub-batch normalisation (models/batchnorm_helper.py), which
 * has running statistics for each split, and joins them as mean of the
 * variances + variance of the running means.  A group has no identity here, for
 * a batch has as many groups as its cell says, so what is kept of the latter is
 * its expectation over all orders of the groups, in which a group's mean and a
 * running mean are independent:
 *
 *	b = (1 - m)^2 b + m^2 (E[u^2] - E[u]^2)		var = (var of above) + b
 *
 * This is what that program has after one step, and on average after more.
 * Running means move less than means: b tends to m / (2 - m) of the variance
 * between groups, 1/19 of it for m = 0.1.  All of it is in what
 * train/loop/precise.h measures.
 *
 * The network must have its PARAM_BETWEEN (graph_between), whose gradient is
 * E[(u - mean)^2].  What is summed over ranks is still linear; that E[u] is
 * subtracted, squared, is done on every rank when all have everything.
 */

#include "net/net.h"

/* Where those of a normalisation are: mean, variance and what is between lie
 * behind one another. */
struct running_place {
	size_t at, n;			/* elements of the weights, of all three */
	size_t var, between, count;	/* of which these begin so far behind */
	size_t kept;
	double rate;
};

/* The statistics before a step; nothing where there is nothing to aggregate. */
struct running {
	int n;				/* normalisations */
	struct running_place *place;	/* [n] */
	struct device *device;
	void *kept;			/* of the device's; NULL: nothing */
	double *was, *now;		/* [elements of one, at most] */
};

/* running_open(r, n): -1 after a message. */
int running_open(struct running *r, const struct net *n);
void running_close(struct running *r);

/*
 * running_factors(g, p, factor): of the running statistic ${p}, which follows its
 * gradient by device_track with a rate of 1 and the scale of a mean.
 */
void running_factors(const struct graph *g, const struct param *p,
    double factor[2]);

/*
 * running_before(r, n), running_after(r, n): around a step of the optimiser
 * that has tracked all of them.  The first is given to the device, and nobody
 * waits; the second is for a step that was made, once that is known, and waits.
 */
void running_before(struct running *r, const struct net *n);
void running_after(struct running *r, struct net *n);

#endif
