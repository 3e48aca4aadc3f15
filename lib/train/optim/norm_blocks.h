#ifndef TRAIN_OPTIM_NORM_BLOCKS_H
#define TRAIN_OPTIM_NORM_BLOCKS_H

/*
 * Norm blocks: sums of squares over parameters, in an order that depends only
 * on the network.
 *
 * The vector of all parameters is divided at the start of each parameter and
 * every EXACT_BLOCK elements.  So each block belongs to one parameter and one
 * owner.  Owners sum their blocks and all-gather the sums.  Then every rank
 * adds the sums of a parameter's blocks in order.
 */

#include "comm/segments.h"
#include "net/net.h"

/* The norm blocks of a network. */
struct norm_blocks {
	const struct graph *graph;
	const struct segments *share;
	size_t n;
	size_t *edge;			/* [n + 1] element where each begins */
	int *param;			/* [n] parameter of each */
	size_t *first;			/* [nparam + 1] first block of a
					 * parameter */
	size_t *place;			/* [n] index in ${sum}, which is ordered
					 * by owner */
	size_t *start;			/* [ranks + 1] bytes: an owner's sums */
	struct interval *own;		/* [owns] this rank's blocks, in
					 * order */
	size_t owns;
	double *sum;			/* [n] sums of squares, by ${place} */
};

/*
 * norm_blocks_open(t, g, share): divide the parameters of ${g}. ${g} and
 * ${share} must outlive ${t}, which norm_blocks_close frees.
 */
void norm_blocks_open(struct norm_blocks *t, const struct graph *g,
    const struct segments *share);
void norm_blocks_close(struct norm_blocks *t);

/*
 * norm_blocks_sum(t, d, flat): compute the sums of squares of this rank's
 * blocks of the vector at ${flat}, in memory of ${d}. It waits for the device.
 */
void norm_blocks_sum(struct norm_blocks *t, struct device *d, const void *flat);

/*
 * norm_blocks_allgather(t): all-gather the sums. Collective: all ranks call it.
 * Return 0, or -1 after a message.
 */
int norm_blocks_allgather(struct norm_blocks *t);

/*
 * norm_blocks_total(t, statistics): return the sum over all running statistics
 * if ${statistics} is 1, over all trained parameters if it is 0, without frozen
 * ones. Call norm_blocks_allgather first. norm_blocks_finite(t): return 1 if
 * the sums of this rank's blocks are finite.
 */
double norm_blocks_total(const struct norm_blocks *t, int statistics);
int norm_blocks_finite(const struct norm_blocks *t);

/* norm_blocks_param(t, p): return the sum over parameter number ${p}. */
double norm_blocks_param(const struct norm_blocks *t, int p);

#endif
