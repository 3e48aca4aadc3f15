#ifndef TRAIN_OPTIM_TILES_H
#define TRAIN_OPTIM_TILES_H

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
struct tiles {
	const struct graph *graph;
	const struct segments *share;
	size_t n;
	size_t *edge;			/* [n + 1] element where each begins */
	int *param;			/* [n] parameter of each */
	size_t *first;			/* [nparam + 1] first block of a
					 * parameter */
	size_t *begin;			/* [share->n + 1] first block of a
					 * segment */
	size_t *place;			/* [n] index in ${sum}, which is ordered
					 * by owner */
	size_t *start;			/* [ranks + 1] bytes: an owner's sums */
	struct interval *own;		/* [owns] this rank's blocks, in
					 * order */
	size_t owns;
	double *sum;			/* [n] sums of squares, by ${place} */
};

/*
 * tiles_open(t, g, share): divide the parameters of ${g}.  ${g} and ${share}
 * must outlive ${t}, which tiles_close frees.
 */
void tiles_open(struct tiles *t, const struct graph *g,
    const struct segments *share);
void tiles_close(struct tiles *t);

/*
 * tiles_own(t, d, flat): compute the sums of squares of this rank's blocks of
 * the vector at ${flat}, in memory of ${d}.  It waits for the device.
 */
void tiles_own(struct tiles *t, struct device *d, const void *flat);

/*
 * tiles_share(t): all-gather the sums.  Collective: all ranks call it.  Return
 * 0, or -1 after a message.
 */
int tiles_share(struct tiles *t);

/*
 * tiles_squares(t, statistics): return the sum over all running statistics if
 * ${statistics} is 1, over all trained parameters if it is 0, without frozen
 * ones.  Call tiles_share first.
 * tiles_finite(t): return 1 if the sums of this rank's blocks are finite.
 */
double tiles_squares(const struct tiles *t, int statistics);
int tiles_finite(const struct tiles *t);

/* tiles_of(t, p): return the sum over parameter number ${p}. */
double tiles_of(const struct tiles *t, int p);

#endif
