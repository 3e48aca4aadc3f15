#ifndef COMM_EXACT_H
#define COMM_EXACT_H

/*
 * Sums that do not depend on the number of ranks.
 *
 * A step has L leaves, each with a vector.  A fixed binary tree over the leaves
 * defines the sum: node (k, i) is node (k - 1, 2 i) plus node (k - 1, 2 i + 1).
 * A child that does not exist, because L need not be a power of two, is left
 * out.  A rank holds consecutive leaves and sums the largest subtrees that it
 * wholly owns.  Then the ranks finish the tree in the same association, by
 * recursive halving (comm/halving.h).  So any number of ranks gives the same
 * bits, which MPI_Allreduce does not.
 */

#include <stddef.h>

#include "comm/comm.h"

/* A subtree whose sum is known: node (level, index), at ${data}. */
struct subtree { int level, index; void *data; };

enum { TREE_MAX = 64 };		/* maximum subtrees of consecutive
					 * leaves */

/* Subtrees of consecutive leaves, in the order of the leaves. */
struct tree {
	int leaves;			/* of the whole step */
	int n;
	struct subtree part[TREE_MAX];
};

/* An addition: left += right. */
struct tree_sum { void *left; const void *right; };

/*
 * tree_push(t, s, sums):
 * Append subtree ${s}, which must follow the last subtree in ${t}, and merge
 * siblings.  Write the additions that this requires to ${sums} [TREE_MAX], in
 * order, and return their number.  The caller executes them; afterwards the
 * memory of each right operand is free.
 */
int tree_push(struct tree *t, struct subtree s, struct tree_sum *sums);

/*
 * tree_of(leaves, first, count, t): set ${t} to the subtrees, without data, of
 * leaves ${first} to ${first} + ${count} - 1 of ${leaves}.
 */
void tree_of(int leaves, int first, int count, struct tree *t);

/*
 * The state of a reduction of vectors: the distribution of leaves, the receive
 * buffer, and the addition.
 */
struct exact {
	struct comm *comm;
	size_t elem;			/* bytes of an element */
	/* sum[i] += x[i] for ${n} elements */
	void (*add)(void *arg, void *sum, const void *x, size_t n);
	void *arg;			/* passed to add */
	const struct collective_device *device;	/* where vectors are; NULL: in
						 * host memory.  Set it after
						 * exact_open */
	size_t max;			/* largest number of elements of a
					 * slice */
	int leaves;			/* of a step; 0: not distributed */
	int subtrees;			/* of this rank */
	int *begin;			/* [size + 1] first leaf of each rank */
	char *buffer;			/* receive buffer of ${capacity}
					 * bytes */
	size_t capacity;
	struct collective scatter;	/* for slices of ${listed} elements */
	size_t listed;
};

/*
 * exact_open(e, c, elem, add, arg, largest):
 * Prepare ${e} for sums over ${c} of vectors with elements of ${elem} bytes, in
 * slices of up to ${largest} elements.  ${add} adds ${n} elements and is called
 * with ${arg}.  ${c} and ${arg} must outlive ${e}.  exact_close frees the
 * memory of ${e}.  Call exact_leaves next.
 */
void exact_open(struct exact *e, struct comm *c, size_t elem,
    void (*add)(void *, void *, const void *, size_t), void *arg,
    size_t largest);
void exact_close(struct exact *e);

/*
 * exact_leaves(e, leaves, first):
 * Distribute ${leaves} over the ranks by split() (base/cpus.h) and prepare for
 * a step with these leaves.  ${leaves} must be at least the number of ranks.
 * Return the number of this rank's leaves and set ${*first} to its first one.
 */
int exact_leaves(struct exact *e, int leaves, int *first);

/*
 * exact_buffer_bytes(leaves, rank, ranks, largest, elem): return the bytes of
 * the receive buffer of ${rank} for slices of up to ${largest} elements.
 */
size_t exact_buffer_bytes(int leaves, int rank, int ranks, size_t largest,
    size_t elem);

/*
 * exact_segment_begin(from, to, q, ranks):
 * Return where the segment at position ${q} (comm/rank_order.h) begins, and
 * that at q - 1 ends, within elements ${from} to ${to} - 1.  The result is
 * ${from} plus a multiple of EXACT_BLOCK, or ${to} if ${q} is ${ranks}.  So a
 * sum that proceeds in blocks of EXACT_BLOCK gives the same bits for any number
 * of ranks.
 *
 * exact_segment(c, from, to, end): return where the segment of this rank of
 * ${c} begins, and set ${*end} to its end.
 */
enum { EXACT_BLOCK = 1024 };

size_t exact_segment_begin(size_t from, size_t to, int q, int ranks);
size_t exact_segment(struct comm *c, size_t from, size_t to, size_t *end);

/*
 * exact_reduce_scatter(e, t, from, to, result):
 * Reduce-scatter elements ${from} to ${to} - 1, at most ${e}->max.  ${t} holds
 * this rank's subtrees of whole vectors; their elements in the range are
 * overwritten.  Write the sum over all leaves, of this rank's segment of the
 * range (exact_segment_begin), to the same elements of ${result}. ${result} may
 * be the data of the first subtree; its other elements in the range are then
 * undefined.
 * Collective: all ranks call it.  Return 0, or -1 after a message.
 */
int exact_reduce_scatter(struct exact *e, const struct tree *t, size_t from,
    size_t to, void *result);

/*
 * exact_allreduce(e, t, from, to, result): exact_reduce_scatter, then an
 * all-gather of the segments, so that every rank has the whole range of the sum
 * in ${result}.
 */
int exact_allreduce(struct exact *e, const struct tree *t, size_t from,
    size_t to, void *result);

/*
 * exact_traffic(e, n):
 * Return the bytes that this rank sends in exact_allreduce of ${n} elements.
 * With P ranks and leaves that are aligned with the tree, about 2 n (P - 1) / P
 * of n bytes, which is the least that an all-reduce can send.  A group of ranks
 * that holds several subtrees sends each of them (comm/halving.h).
 */
size_t exact_traffic(struct exact *e, size_t n);

/* exact_sum(v, leaves): return the sum of ${v} [leaves] by the same tree. */
double exact_sum(const double *v, int leaves);

#endif
