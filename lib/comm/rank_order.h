#ifndef COMM_RANK_ORDER_H
#define COMM_RANK_ORDER_H

/*
 * The order of ranks along a vector that they share.
 *
 * Recursive halving reduces adjacent ranks first, so the first bit of a rank
 * selects a half of the vector, the second bit a quarter, and so on: with 4
 * ranks the segments belong to ranks 0, 2, 1 and 3.  In general the ranks form
 * slots.  Their number S is the largest 2^k or 3 2^(k - 1) up to the number of
 * ranks.  The last slots have two ranks each if there are more ranks, the
 * others one.  If S is 3 2^(k - 1), the first 2^k slots form one half and the
 * others the other half; each slot of the second half lies between two of the
 * first.
 */

struct comm;

/*
 * The order of ${ranks} ranks.  Positions count from the start of the vector.
 */
struct rank_order {
	int ranks, slots;
	int bits;			/* 2^bits slots in the first half */
	int *position;			/* [ranks] of a rank */
	int *rank;			/* [ranks] the rank at a position */
	int *first;			/* [slots + 1] first position of the
					 * slots in their order */
};

/*
 * rank_order_new(ranks): return the order of ${ranks} ranks, at least 1.
 * rank_order_free frees it; it may be NULL.
 */
struct rank_order *rank_order_new(int ranks);
void rank_order_free(struct rank_order *o);

/* A slot: its half, its number in this half, and its first rank. */
struct rank_slot {
	int half;			/* 0 or 1 */
	int number, index;		/* by rank, and in the order of the
					 * half */
	int place;			/* in the order of all slots */
	int rank, ranks;		/* first rank; 1 or 2 ranks */
};

/*
 * rank_order_slot(o, half, number): return slot ${number} of ${half}.
 * rank_order_slot_at(o, half, index): return slot ${index} in the order of
 * ${half}.
 */
struct rank_slot rank_order_slot(const struct rank_order *o, int half,
    int number);
struct rank_slot rank_order_slot_at(const struct rank_order *o, int half,
    int index);

/* rank_order_slot_of(o, rank): return the slot of ${rank}. */
struct rank_slot rank_order_slot_of(const struct rank_order *o, int rank);

#endif
