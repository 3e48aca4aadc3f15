/* The lists of the exact reduce-scatter. */
#include <assert.h>

#include "comm/exact.h"
#include "comm/halving.h"

/* The elements [from, to) of the vector. */
struct halving_range { size_t from, to; };

/* The elements and subtrees of a rank while its list is built. */
struct halving {
	const struct rank_order *order;
	const int *begin;
	size_t n, elem;
	struct collective *list;
	size_t buffer;			/* bytes in use */
	struct halving_range span;	/* elements that the rank holds */
	struct tree tree;		/* subtrees of its group ... */
	struct address at[TREE_MAX];	/* ... and where span.from of each is */
};

/* Return the first element of the slot at ${place} in their order. */
static size_t
halving_place(const struct halving *h, int place)
{
	return exact_segment_begin(0, h->n, h->order->first[place],
	    h->order->ranks);
}

/*
 * Return where slot ${index} of ${half} begins before the halves exchange.
 * Without a second half that is the start of its segment.  With one, slots 2 j
 * and 2 j + 1 of the first half share the segment of slot j of the second.
 */
static size_t
halving_cut(const struct halving *h, int half, int index)
{
	int pairs = h->order->slots > 1 << h->order->bits;
	size_t from, to;

	if (!pairs)
		return halving_place(h, index);
	if (half || index % 2 == 0)
		return halving_place(h, half ? 3 * index : 3 * (index / 2));
	from = halving_place(h, 3 * (index / 2) + 1);
	to = halving_place(h, 3 * (index / 2) + 2);
	return from + (to - from) / 2 / EXACT_BLOCK * EXACT_BLOCK;
}

/* Return the elements of slot ${s} after ${rounds} rounds within its half. */
static struct halving_range
halving_span(const struct halving *h, struct rank_slot s, int rounds)
{
	int left = h->order->bits - s.half - rounds, i = s.index >> left;

	return (struct halving_range){ halving_cut(h, s.half, i << left),
		halving_cut(h, s.half, (i + 1) << left) };
}

/* Return the elements of slot ${s} at the end. */
static struct halving_range
halving_own(const struct halving *h, struct rank_slot s)
{
	return (struct halving_range){ halving_place(h, s.place),
		halving_place(h, s.place + 1) };
}

/* Return the address of element ${from} of subtree ${k}. */
static struct address
halving_at(const struct halving *h, int k, size_t from)
{
	return (struct address){ h->at[k].buffer, h->at[k].at + (from -
	    h->span.from) * h->elem };
}

static void
halving_send(struct halving *h, int rank, struct halving_range s)
{
	for (int k = 0; k < h->tree.n && s.to > s.from; k++)
		collective_send(h->list, rank, halving_at(h, k, s.from),
		    (s.to - s.from) * h->elem);
}

/*
 * Receive elements ${s} of the subtrees ${t} from ${rank}.  Their places in the
 * buffer have the elements of ${whole}, and begin at ${base}.
 */
static void
halving_receive(struct halving *h, int rank, const struct tree *t,
    struct halving_range s, struct halving_range whole, size_t base)
{
	size_t each = (whole.to - whole.from) * h->elem;

	for (int k = 0; k < t->n && s.to > s.from; k++)
		collective_receive(h->list, rank, (struct address){
		    HALVING_BUFFER, base + (size_t)k * each + (s.from -
		    whole.from) * h->elem }, (s.to - s.from) * h->elem);
}

/*
 * Reduce what this rank holds to elements ${keep}, and add the subtrees ${t},
 * whose elements ${keep} are in the buffer.  ${after}: their leaves follow this
 * rank's.
 */
static void
halving_join(struct halving *h, const struct tree *t, struct halving_range keep,
    int after)
{
	size_t length = keep.to - keep.from;
	struct tree all = { .leaves = t->leaves };
	struct tree_sum sums[TREE_MAX];
	struct address place[2 * TREE_MAX];
	int n = 0;

	for (int side = 0; side < 2; side++) {
		const struct tree *part = side == after ? t : &h->tree;

		for (int k = 0; k < part->n; k++, n++) {
			struct subtree s = part->part[k];
			int joins;

			place[n] = part == t ? (struct address){ HALVING_BUFFER,
				h->buffer + (size_t)k * length * h->elem } :
				halving_at(h, k, keep.from);
			s.data = &place[n];
			joins = tree_push(&all, s, sums);
			for (int i = 0; i < joins; i++)
				collective_local(h->list, COLLECTIVE_ADD,
				    *(const struct address *)sums[i].left,
				    *(const struct address *)sums[i].right,
				    length);
		}
	}
	h->buffer += (size_t)t->n * length * h->elem;
	for (int k = 0; k < all.n; k++)
		h->at[k] = *(const struct address *)all.part[k].data;
	h->tree = all;
	h->span = keep;
}

/* Return the subtrees of ranks ${first} to ${end} - 1. */
static struct tree
halving_tree(const struct halving *h, int first, int end)
{
	struct tree t;

	tree_of(h->begin[h->order->ranks], h->begin[first], h->begin[end] -
	    h->begin[first], &t);
	return t;
}

/* Return the subtrees of slots ${first} to ${end} - 1 of ${half}. */
static struct tree
halving_tree_of(const struct halving *h, int half, int first, int end)
{
	struct rank_slot last = rank_order_slot(h->order, half, end - 1);

	return halving_tree(h, rank_order_slot(h->order, half, first).rank,
	    last.rank + last.ranks);
}

/* One round within a half: exchange with the slot that differs in bit ${t}. */
static void
halving_round(struct halving *h, struct rank_slot s, int t)
{
	int group = ((s.number ^ 1 << t) >> t) << t;
	struct rank_slot peer = rank_order_slot(h->order, s.half,
	    s.number ^ 1 << t);
	struct tree theirs = halving_tree_of(h, s.half, group,
	    group + (1 << t));
	struct halving_range keep = halving_span(h, s, t + 1);

	halving_send(h, peer.rank, halving_span(h, peer, t + 1));
	halving_receive(h, peer.rank, &theirs, keep, keep, h->buffer);
	collective_wait(h->list);
	halving_join(h, &theirs, keep, peer.number > s.number);
}

static struct halving_range
halving_both(struct halving_range a, struct halving_range b)
{
	struct halving_range s = { a.from > b.from ? a.from : b.from,
		a.to < b.to ? a.to : b.to };

	return s.to > s.from ? s : (struct halving_range){ 0, 0 };
}

/* The exchange between the halves. */
static void
halving_cross(struct halving *h, struct rank_slot s)
{
	int bits = h->order->bits, first = s.half ? 2 * s.index : s.index / 2;
	struct tree theirs = halving_tree_of(h, !s.half, 0, s.half ? 1 << bits :
	    1 << (bits - 1));
	struct halving_range mine = h->span, keep = halving_own(h, s);

	for (int i = first; i < first + 1 + s.half; i++) {
		struct rank_slot peer = rank_order_slot_at(h->order, !s.half,
		    i);

		halving_send(h, peer.rank, halving_both(mine,
		    halving_own(h, peer)));
		halving_receive(h, peer.rank, &theirs, halving_both(
		    halving_span(h, peer, bits - !s.half), keep), keep,
		    h->buffer);
	}
	collective_wait(h->list);
	halving_join(h, &theirs, keep, !s.half);
}

/* Return the segment of ${rank}. */
static struct halving_range
halving_segment(const struct halving *h, int rank)
{
	int p = h->order->position[rank], ranks = h->order->ranks;

	return (struct halving_range){ exact_segment_begin(0, h->n, p, ranks),
		exact_segment_begin(0, h->n, p + 1, ranks) };
}

/* The second rank of a slot: send all subtrees, receive the segment. */
static void
halving_second(struct halving *h, int first, int rank)
{
	struct halving_range own = halving_segment(h, rank);

	halving_send(h, first, h->span);
	collective_wait(h->list);
	if (own.to > own.from)
		collective_receive(h->list, first, (struct address){
		    HALVING_RESULT, own.from * h->elem }, (own.to - own.from) *
		    h->elem);
	collective_wait(h->list);
}

/* Copy the finished segment to the result; send that of the second rank. */
static void
halving_finish(struct halving *h, struct rank_slot s)
{
	struct halving_range own = halving_segment(h, s.rank);

	assert(h->tree.n == 1);
	if (s.ranks == 2)
		halving_send(h, s.rank + 1, halving_segment(h, s.rank + 1));
	collective_local(h->list, COLLECTIVE_COPY, (struct address){
	    HALVING_RESULT, own.from * h->elem }, halving_at(h, 0, own.from),
	    own.to - own.from);
	if (s.ranks == 2)
		collective_wait(h->list);
}

size_t
halving_list(const struct rank_order *o, int rank, const int *begin, size_t n,
    size_t elem, struct collective *l)
{
	struct halving h = { .order = o, .begin = begin, .n = n, .elem = elem,
		.list = l, .span = { 0, n } };
	struct rank_slot s = rank_order_slot_of(o, rank);

	h.tree = halving_tree(&h, rank, rank + 1);
	for (int k = 0; k < h.tree.n; k++)
		h.at[k] = (struct address){ HALVING_SUBTREE + k, 0 };
	if (rank != s.rank) {
		halving_second(&h, s.rank, rank);
		return h.buffer;
	}
	if (s.ranks == 2) {
		struct tree theirs = halving_tree(&h, rank + 1, rank + 2);

		halving_receive(&h, rank + 1, &theirs, h.span, h.span, 0);
		collective_wait(l);
		halving_join(&h, &theirs, h.span, 1);
	}
	for (int t = 0; t < o->bits - s.half; t++)
		halving_round(&h, s, t);
	if (o->slots > 1 << o->bits)
		halving_cross(&h, s);
	halving_finish(&h, s);
	return h.buffer;
}
