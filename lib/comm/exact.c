/* The fixed summation tree, and its exchange between ranks. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/mem.h"
#include "comm/exact.h"

/* The levels above the leaves of a tree of ${leaves}. */
static int
exact_tree_height(int leaves)
{
	int h = 0;

	while (1 << h < leaves)
		h++;
	return h;
}

int
tree_push(struct tree *t, struct subtree s, struct tree_sum *sums)
{
	int n = 0, root = exact_tree_height(t->leaves);

	assert(t->n < TREE_MOST);
	t->part[t->n++] = s;
	for (;;) {
		struct subtree *top = &t->part[t->n - 1];
		struct subtree *left = top - 1;
		long long sibling = (long long)(top->index + 1) << top->level;

		if (t->n > 1 && left->level == top->level &&
		    left->index % 2 == 0 && top->index == left->index + 1) {
			sums[n++] = (struct tree_sum){ left->data, top->data };
			t->n--;
			top = left;
		} else if (top->level >= root || top->index % 2 != 0 ||
		    sibling < t->leaves) {
			return n;
		}
		/* A whole pair, or a left child whose sibling is absent. */
		top->level++;
		top->index /= 2;
	}
}

void
tree_of(int leaves, int first, int count, struct tree *t)
{
	struct tree_sum sums[TREE_MOST];

	*t = (struct tree){ .leaves = leaves };
	for (int i = first; i < first + count; i++)
		tree_push(t, (struct subtree){ 0, i, NULL }, sums);
}

double
exact_sum(const double *v, int leaves)
{
	struct tree t = { .leaves = leaves };
	struct tree_sum sums[TREE_MOST];
	double sum[TREE_MOST];		/* of t.part, in their order */

	for (int i = 0; i < leaves; i++) {
		double *here = &sum[t.n];
		int n;

		*here = v[i];
		n = tree_push(&t, (struct subtree){ 0, i, here }, sums);
		for (int k = 0; k < n; k++)
			*(double *)sums[k].left += *(const double *)sums[k].right;
	}
	return sum[0];
}

void
exact_open(struct exact *e, struct comm *c, size_t elem,
    void (*add)(void *, void *, const void *, size_t), void *arg,
    size_t most)
{
	*e = (struct exact){ .comm = c, .elem = elem, .add = add,
		.arg = arg, .most = most };
	e->of = xcalloc((size_t)c->size, sizeof(*e->of));
	e->begin = xcalloc((size_t)c->size + 1, sizeof(*e->begin));
}

void
exact_close(struct exact *e)
{
	free(e->of);
	free(e->begin);
	free(e->room);
	free(e->arrived);
	free(e->send);
	free(e->receive);
	*e = (struct exact){ 0 };
}

size_t
exact_cut(size_t from, size_t to, int q, int ranks)
{
	size_t n = to - from;

	if (q == ranks)
		return to;
	return from + n / (size_t)ranks * (size_t)q / EXACT_BLOCK * EXACT_BLOCK;
}

static size_t
exact_cut_at(const struct exact *e, size_t from, size_t to, int q)
{
	return exact_cut(from, to, q, e->comm->size);
}

/* Of slices of up to ${most} elements. */
static size_t
exact_longest_segment(size_t most, int ranks)
{
	/* Both cuts are rounded down; the last rank has what is left. */
	size_t segment = most / (size_t)ranks + (size_t)ranks + EXACT_BLOCK;

	return segment < most ? segment : most;
}

size_t
exact_room(int leaves, int rank, int ranks, size_t most, size_t elem)
{
	size_t parts = 0;

	for (int r = 0; r < ranks; r++) {
		int first, count = split(leaves, r, ranks, &first);
		struct tree t;

		tree_of(leaves, first, count, &t);
		parts += r == rank ? 0 : (size_t)t.n;
	}
	return parts * exact_longest_segment(most, ranks) * elem;
}

void
exact_shares(struct exact *e, const int *begin)
{
	int size = e->comm->size, parts = 0;
	size_t room;

	e->leaves = begin[size];
	for (int r = 0; r < size; r++) {
		tree_of(e->leaves, begin[r], begin[r + 1] - begin[r],
		    &e->of[r]);
		parts += e->of[r].n;
	}
	room = (size_t)(parts - e->of[e->comm->rank].n) *
	    exact_longest_segment(e->most, size) * e->elem;
	if (parts > e->arrived_cap) {
		e->arrived_cap = parts;
		e->arrived = xrealloc(e->arrived, (size_t)parts,
		    sizeof(*e->arrived));
	}
	if (room > e->room_bytes) {
		e->room_bytes = room;
		e->room = xrealloc(e->room, room, 1);
	}
}

int
exact_leaves(struct exact *e, int leaves, int *first)
{
	int size = e->comm->size;

	if (leaves != e->leaves) {
		for (int r = 0; r < size; r++)
			e->begin[r + 1] = e->begin[r] + split(leaves, r, size,
			    first);
		exact_shares(e, e->begin);
	}
	return split(leaves, e->comm->rank, size, first);
}

static void *
exact_element(const struct exact *e, const void *data, size_t i)
{
	return (char *)data + i * e->elem;
}

static void
exact_add_piece(struct piece **list, size_t *cap, int *n, int rank, void *data,
    size_t bytes)
{
	*list = array_room(*list, (size_t)*n, cap, sizeof(**list));
	(*list)[(*n)++] = (struct piece){ rank, data, bytes };
}

/*
 * Send each rank its segment of our subtrees, and receive our segment of
 * theirs into e->room.  e->arrived then holds all subtrees in order of leaves,
 * ours where they lie; ${*count} says how many.
 */
static int
exact_exchange(struct exact *e, const struct tree *t, size_t from, size_t to,
    int *count)
{
	int size = e->comm->size, rank = e->comm->rank, ns = 0, nr = 0;
	size_t mine = exact_cut_at(e, from, to, rank);
	size_t length = exact_cut_at(e, from, to, rank + 1) - mine;
	char *room = e->room;

	*count = 0;
	for (int r = 0; r < size; r++) {
		size_t a = exact_cut_at(e, from, to, r),
		    b = exact_cut_at(e, from, to, r + 1);

		for (int k = 0; k < e->of[r].n; k++) {
			struct subtree s = e->of[r].part[k];

			if (r == rank) {
				s.data = exact_element(e, t->part[k].data,
				    mine);
			} else {
				s.data = room;
				room += length * e->elem;
				exact_add_piece(&e->receive, &e->receive_cap,
				    &nr, r, s.data, length * e->elem);
			}
			e->arrived[(*count)++] = s;
		}
		for (int k = 0; k < t->n && r != rank; k++)
			exact_add_piece(&e->send, &e->send_cap, &ns, r,
			    exact_element(e, t->part[k].data, a),
			    (b - a) * e->elem);
	}
	assert((size_t)(room - e->room) <= e->room_bytes);
	return comm_exchange(e->comm, e->send, ns, e->receive, nr);
}

/* Everyone's finished segment to everyone. */
static int
exact_gather(struct exact *e, size_t from, size_t to, void *result)
{
	int size = e->comm->size, rank = e->comm->rank, ns = 0, nr = 0;
	size_t mine = exact_cut_at(e, from, to, rank);
	size_t length = exact_cut_at(e, from, to, rank + 1) - mine;

	for (int r = 0; r < size; r++) {
		size_t a = exact_cut_at(e, from, to, r),
		    b = exact_cut_at(e, from, to, r + 1);

		if (r == rank)
			continue;
		exact_add_piece(&e->send, &e->send_cap, &ns, r,
		    exact_element(e, result, mine), length * e->elem);
		exact_add_piece(&e->receive, &e->receive_cap, &nr, r,
		    exact_element(e, result, a), (b - a) * e->elem);
	}
	return comm_exchange(e->comm, e->send, ns, e->receive, nr);
}

size_t
exact_traffic(const struct exact *e, size_t from, size_t to)
{
	size_t size = (size_t)e->comm->size;
	size_t parts = (size_t)e->of[e->comm->rank].n;
	size_t mine = exact_cut_at(e, from, to, e->comm->rank + 1) -
	    exact_cut_at(e, from, to, e->comm->rank);

	return (parts * (to - from - mine) + (size - 1) * mine) * e->elem;
}

int
exact_scatter(struct exact *e, const struct tree *t, size_t from, size_t to,
    void *result)
{
	int rank = e->comm->rank, count = 0;
	size_t mine = exact_cut_at(e, from, to, rank);
	size_t length = exact_cut_at(e, from, to, rank + 1) - mine;
	struct tree whole = { .leaves = e->leaves };
	struct tree_sum sums[TREE_MOST];

	if (e->comm->size == 1) {
		if (t->part[0].data != result)
			memcpy(exact_element(e, result, from),
			    exact_element(e, t->part[0].data, from),
			    (to - from) * e->elem);
		return 0;
	}
	assert(to - from <= e->most);
	if (exact_exchange(e, t, from, to, &count) != 0)
		return -1;
	for (int i = 0; i < count; i++) {
		int n = tree_push(&whole, e->arrived[i], sums);

		for (int k = 0; k < n; k++)
			e->add(e->arg, sums[k].left, sums[k].right, length);
	}
	if (whole.part[0].data != exact_element(e, result, mine))
		memcpy(exact_element(e, result, mine), whole.part[0].data,
		    length * e->elem);
	return 0;
}

int
exact_reduce(struct exact *e, const struct tree *t, size_t from, size_t to,
    void *result)
{
	return exact_scatter(e, t, from, to, result) != 0 ? -1 :
	    exact_gather(e, from, to, result);
}
