/* The order of ranks along a vector. */
#include <stdlib.h>

#include "base/mem.h"
#include "comm/rank_order.h"

/* Return the lowest ${bits} bits of ${i} in reverse order. */
static int
rank_order_reverse(int i, int bits)
{
	int r = 0;

	for (int b = 0; b < bits; b++)
		r |= (i >> b & 1) << (bits - 1 - b);
	return r;
}

/* Return the number of slots in the second half, or 0 if there is none. */
static int
rank_order_second(const struct rank_order *o)
{
	return o->slots - (1 << o->bits);
}

struct rank_slot
rank_order_slot(const struct rank_order *o, int half, int number)
{
	int all = half * (1 << o->bits) + number;
	int single = 2 * o->slots - o->ranks;	/* slots of one rank */
	struct rank_slot s = { .half = half, .number = number,
		.index = rank_order_reverse(number, o->bits - half) };

	s.place = s.index;
	if (rank_order_second(o) > 0)
		s.place = half ? 3 * s.index + 1 : 3 * (s.index / 2) +
		    2 * (s.index % 2);
	s.rank = all <= single ? all : 2 * all - single;
	s.ranks = all < single ? 1 : 2;
	return s;
}

struct rank_slot
rank_order_slot_at(const struct rank_order *o, int half, int index)
{
	return rank_order_slot(o, half, rank_order_reverse(index,
	    o->bits - half));
}

struct rank_slot
rank_order_slot_of(const struct rank_order *o, int rank)
{
	int single = 2 * o->slots - o->ranks;
	int all = rank < single ? rank : single + (rank - single) / 2;
	int half = all >= 1 << o->bits;

	return rank_order_slot(o, half, all - half * (1 << o->bits));
}

struct rank_order *
rank_order_new(int ranks)
{
	struct rank_order *o = xcalloc(1, sizeof(*o));
	int at = 0;

	o->ranks = ranks;
	while (2 << o->bits <= ranks)
		o->bits++;
	o->slots = 1 << o->bits;
	if (o->bits > 0 && o->slots + o->slots / 2 <= ranks)
		o->slots += o->slots / 2;
	o->position = xcalloc((size_t)ranks, sizeof(*o->position));
	o->rank = xcalloc((size_t)ranks, sizeof(*o->rank));
	o->first = xcalloc((size_t)o->slots + 1, sizeof(*o->first));
	for (int r = 0; r < ranks; r++) {
		struct rank_slot s = rank_order_slot_of(o, r);

		o->first[s.place + 1] = s.ranks;
	}
	for (int i = 0; i < o->slots; i++)
		o->first[i + 1] += o->first[i];
	for (int r = 0; r < ranks; r++) {
		struct rank_slot s = rank_order_slot_of(o, r);

		at = o->first[s.place] + r - s.rank;
		o->position[r] = at;
		o->rank[at] = r;
	}
	return o;
}

void
rank_order_free(struct rank_order *o)
{
	if (o == NULL)
		return;
	free(o->position);
	free(o->rank);
	free(o->first);
	free(o);
}
