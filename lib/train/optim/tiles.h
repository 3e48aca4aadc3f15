#ifndef TRAIN_OPTIM_TILES_H
#define TRAIN_OPTIM_TILES_H

/*
 * Sums of squares over parameters, in an order that the network alone decides.
 *
 * The vector of all parameters is cut where one begins and every EXACT_BLOCK
 * elements.  Such a tile has one parameter and one owner.  Owners sum up their
 * tiles and tell the others; everyone then adds up the tiles of a parameter
 * from the first to the last.
 */

#include "comm/segments.h"
#include "net/net.h"

struct tiles {
	const struct graph *graph;
	const struct segments *share;
	size_t n;
	size_t *edge;			/* [n + 1] elements: where each begins */
	int *param;			/* [n] */
	size_t *first;			/* [nparam + 1] of a parameter */
	size_t *begin;			/* [share->n + 1] of a segment */
	size_t *place;			/* [n] its sum in ${sum}: by owner */
	size_t *start;			/* [ranks + 1] bytes: an owner's sums */
	struct interval *own;		/* [owns] this rank's, in their order */
	size_t owns;
	double *sum;			/* [n] */
};

void tiles_open(struct tiles *t, const struct graph *g,
    const struct segments *share);
void tiles_close(struct tiles *t);

/* tiles_own(t, d, flat): sum up this rank's tiles of the vector at ${flat}. */
void tiles_own(struct tiles *t, struct device *d, const void *flat);

/* tiles_share(t): everyone's sums to everyone; -1 after a message. */
int tiles_share(struct tiles *t);

/* tiles_squares(t, statistics): the sum over all running statistics, or over
 * all that is trained, but for what is frozen.  tiles_finite(t): this rank's
 * sums are. */
double tiles_squares(const struct tiles *t, int statistics);
int tiles_finite(const struct tiles *t);

/* tiles_of(t, p): the sum over parameter number ${p}. */
double tiles_of(const struct tiles *t, int p);

#endif
