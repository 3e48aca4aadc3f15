#ifndef COMM_EXACT_H
#define COMM_EXACT_H

/*
 * Sums that do not depend on the number of ranks.
 *
 * A step has L leaves, each with a vector.  Their sum is taken by a fixed
 * binary tree over the leaves: node (k, i) is node (k - 1, 2 i) plus node
 * (k - 1, 2 i + 1), an absent child (L need not be a power of two) is left
 * out.  A rank holds consecutive leaves and adds up the largest subtrees it
 * wholly owns; ranks then exchange those subtrees, segment by segment, and
 * finish the tree in the same association.  So every rank count gives the same
 * bits, which MPI_Allreduce does not.
 */

#include <stddef.h>

#include "comm/comm.h"

/* A subtree whose sum is known: node (level, index), at ${data}. */
struct subtree { int level, index; void *data; };

enum { TREE_MOST = 64 };		/* subtrees a run of leaves falls into */

/* Subtrees of consecutive leaves, in their order. */
struct tree {
	int leaves;			/* of the whole step */
	int n;
	struct subtree part[TREE_MOST];
};

/* left += right */
struct tree_sum { void *left; const void *right; };

/*
 * tree_push(t, s, sums):
 * Add subtree ${s}, which follows those in ${t}, and join what can be joined.
 * The additions this needs are not done but written to ${sums}[TREE_MOST], in
 * order; return how many.  A sum that was a right side is free again.
 */
int tree_push(struct tree *t, struct subtree s, struct tree_sum *sums);

/* tree_of(leaves, first, count, t): the subtrees of a run of leaves. */
void tree_of(int leaves, int first, int count, struct tree *t);

/*
 * What a reduction of vectors needs: who holds which leaves, the room to
 * receive in, and how to add.
 */
struct exact {
	struct comm *comm;
	size_t elem;			/* bytes of an element */
	void (*add)(void *arg, void *sum, const void *x, size_t n);
	void *arg;			/* of add */
	size_t most;			/* elements of a slice, at most */
	int leaves;			/* what the trees below are for */
	int *begin;			/* [size + 1] room for a split of them */
	struct tree *of;		/* [size] each rank's subtrees */
	char *room;
	size_t room_bytes;
	struct address *place;		/* everybody's subtrees, of a segment */
	int places;
	struct collective scatter;	/* for slices of ${listed} elements */
	size_t listed;
	size_t *start;			/* [size + 1] bytes: their segments */
};

void exact_open(struct exact *e, struct comm *c, size_t elem,
    void (*add)(void *, void *, const void *, size_t), void *arg,
    size_t most);
void exact_close(struct exact *e);

/* exact_leaves(e, leaves, first): this rank's share of ${leaves}, from
 * ${*first}; prepares for a step of as many.  Leaves may not be fewer than
 * ranks. */
int exact_leaves(struct exact *e, int leaves, int *first);

/* exact_shares(e, begin): the same, where rank r has leaves begin[r] to
 * begin[r + 1] - 1, of begin[ranks] in all. */
void exact_shares(struct exact *e, const int *begin);

/*
 * exact_room(leaves, rank, ranks, most, elem): bytes that a rank receives in,
 * of slices of up to ${most} elements.
 */
size_t exact_room(int leaves, int rank, int ranks, size_t most, size_t elem);

/*
 * exact_cut(from, to, q, ranks): where rank ${q}'s segment of elements ${from}
 * to ${to} - 1 begins, and that of rank q - 1 ends: at ${from} and a multiple of
 * EXACT_BLOCK, or at ${to}.  What is summed over a segment in such blocks is
 * thus summed alike on any number of ranks.
 */
enum { EXACT_BLOCK = 1024 };

size_t exact_cut(size_t from, size_t to, int q, int ranks);

/*
 * exact_scatter(e, t, from, to, result):
 * Elements ${from} to ${to} - 1 of the sum over all leaves, each rank its
 * segment of them, into the same elements of ${result}; ${t} holds this rank's
 * subtrees of whole vectors, whose elements in that range are used up.
 * ${result} may be the data of the first; its other elements in the range are
 * of no use then.
 */
int exact_scatter(struct exact *e, const struct tree *t, size_t from,
    size_t to, void *result);

/* exact_reduce(e, t, from, to, result): all of it on every rank: the same, and
 * an allgather. */
int exact_reduce(struct exact *e, const struct tree *t, size_t from, size_t to,
    void *result);

/*
 * exact_traffic(e, n): the bytes this rank sends in exact_reduce of ${n}
 * elements.  Of n bytes, P ranks that hold s subtrees each send
 * (s + 1) n (P - 1) / P: their subtrees to the owners of segments, and the
 * finished segments to everyone.  With s = 1 that is the least any all-reduce
 * can do.
 */
size_t exact_traffic(struct exact *e, size_t n);

/* exact_sum(e, v, leaves): the same tree over one number a leaf. */
double exact_sum(const double *v, int leaves);

#endif
