#ifndef COMM_LANES_H
#define COMM_LANES_H

/*
 * What ranks do in a row or a column of their grid: the parts of an all-reduce.
 *
 * Elements of a range are cut into as many parts as the lane has ranks; part i
 * is that of its rank number i.  A scatter leaves each rank with its part of the
 * sum, a gather gives all parts to all.  On a 16-bit wire a gather first rounds
 * its own part as the others will see it, so that all have the same bits.
 *
 * Each function appends the operations of this rank to a->list.
 */

#include "comm/allreduce.h"

struct range { size_t from, to; };

struct range range_part(struct range all, const struct lane *l, int i);

/* Around a ring: n - 1 steps each. */
void ring_scatter(struct allreduce *a, const struct lane *l, struct range all);
void ring_gather(struct allreduce *a, const struct lane *l, struct range all);

/* Everyone to everyone at once; sums in order of rank, and one rounding of each
 * summand on a 16-bit wire, where a ring rounds what it passes on. */
void direct_scatter(struct allreduce *a, const struct lane *l, struct range all);
void direct_gather(struct allreduce *a, const struct lane *l, struct range all);

/*
 * The sum on all ranks, by recursive halving and doubling.  What is above a
 * power of two of them first adds its vector to another's, and has the sum from
 * it at the end.
 */
void halving_sum(struct allreduce *a, const struct lane *l, struct range all);

#endif
