#ifndef COMM_GRID_COLLECTIVES_H
#define COMM_GRID_COLLECTIVES_H

/*
 * The building blocks of an all-reduce, in a row or a column of the grid.
 *
 * The elements of a range are divided into one shard for each rank of the row
 * or column; shard i belongs to its rank number i.  A reduce-scatter leaves
 * each rank with its shard of the sum; an all-gather gives all shards to all
 * ranks.  With a 16-bit communication dtype, an all-gather first rounds a
 * rank's own shard as the others receive it.  So all ranks have the same bits.
 *
 * Each function appends the operations of this rank to a->list.
 */

#include "comm/allreduce.h"

struct range { size_t from, to; };	/* elements */

/*
 * range_part(all, l, i): return shard ${i} of ${all}.  The first shards have
 * one element more if the division leaves a remainder.
 */
struct range range_part(struct range all, const struct grid_line *l, int i);

/*
 * grid_ring_scatter, grid_ring_gather: a reduce-scatter and an all-gather by
 * ring passes of l->n - 1 steps.
 */
void grid_ring_scatter(struct allreduce *a, const struct grid_line *l,
    struct range all);
void grid_ring_gather(struct allreduce *a, const struct grid_line *l,
    struct range all);

/*
 * grid_direct_scatter, grid_direct_gather: the same by direct messages between
 * all ranks, in one step.  Each rank adds to its own shard those of the ranks
 * before it, the nearest first.  With a 16-bit dtype each summand is rounded
 * once, where a ring rounds partial sums.
 */
void grid_direct_scatter(struct allreduce *a, const struct grid_line *l,
    struct range all);
void grid_direct_gather(struct allreduce *a, const struct grid_line *l,
    struct range all);

/*
 * grid_halving_sum(a, l, all): all-reduce ${all} by recursive halving and
 * doubling (Thakur et al. 2005).  If the number of ranks is not a power of two,
 * the extra ranks first add their vectors to those of other ranks.  At the end
 * they receive the sum from them.
 */
void grid_halving_sum(struct allreduce *a, const struct grid_line *l,
    struct range all);

#endif
