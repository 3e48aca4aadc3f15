#ifndef COMM_HALVING_H
#define COMM_HALVING_H

/*
 * The exact reduce-scatter as a list (comm/collective.h): recursive halving
 * along the summation tree.
 *
 * In round t a rank exchanges with the rank whose number differs in bit t.  Of
 * the elements that both still have, each keeps one half and sends the other,
 * then adds.  Adjacent ranks come first, because their subtrees are adjacent:
 * groups of 2^t ranks with equal numbers of leaves hold a single subtree.  So a
 * rank sends about one vector in log2 P messages.  Where leaves are not aligned
 * with the tree, a group holds several subtrees, and each is a message.
 *
 * The exchange of slots, halves and second ranks is that of comm/rank_order.h:
 * the second rank of a slot sends its subtrees to the first and receives its
 * segment at the end.  If there are two halves, slot j of the second finishes
 * with two slots of the first.
 */

#include <stddef.h>

#include "comm/collective.h"
#include "comm/rank_order.h"

/* Buffers of the list.  This rank's subtrees follow from HALVING_SUBTREE. */
enum { HALVING_BUFFER, HALVING_RESULT, HALVING_SUBTREE };

/*
 * halving_list(o, rank, begin, n, elem, l):
 * Append the list of ${rank} to ${l}, for vectors of ${n} elements of ${elem}
 * bytes.  Rank r has leaves begin[r] to begin[r + 1] - 1.  Return the bytes of
 * HALVING_BUFFER.
 */
size_t halving_list(const struct rank_order *o, int rank, const int *begin,
    size_t n, size_t elem, struct collective *l);

#endif
