/* The fixed summation tree, and its reduce-scatter over ranks. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/mem.h"
#include "comm/exact.h"

/* Return the number of levels above the leaves of a tree of ${leaves}. */
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

	assert(t->n < TREE_MAX);
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
			/* The root, a right child, or a left child whose
			 * sibling will follow. */
			return n;
		}
		/*
		 * Merged siblings, or a left child whose sibling does not
		 * exist.
		 */
		top->level++;
		top->index /= 2;
	}
}

void
tree_of(int leaves, int first, int count, struct tree *t)
{
	struct tree_sum sums[TREE_MAX];

	*t = (struct tree){ .leaves = leaves };
	for (int i = first; i < first + count; i++)
		tree_push(t, (struct subtree){ 0, i, NULL }, sums);
}

double
exact_sum(const double *v, int leaves)
{
	struct tree t = { .leaves = leaves };
	struct tree_sum sums[TREE_MAX];
	double sum[TREE_MAX];		/* of t.part, in their order */

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
    size_t largest)
{
	*e = (struct exact){ .comm = c, .elem = elem, .add = add,
		.arg = arg, .max = largest };
	e->of = xcalloc((size_t)c->size, sizeof(*e->of));
	e->begin = xcalloc((size_t)c->size + 1, sizeof(*e->begin));
	e->start = xcalloc((size_t)c->size + 1, sizeof(*e->start));
}

void
exact_close(struct exact *e)
{
	free(e->of);
	free(e->begin);
	free(e->buffer);
	free(e->place);
	free(e->start);
	collective_free(&e->scatter);
	*e = (struct exact){ 0 };
}

size_t
exact_segment_begin(size_t from, size_t to, int q, int ranks)
{
	size_t n = to - from;

	if (q == ranks)
		return to;
	return from + n / (size_t)ranks * (size_t)q / EXACT_BLOCK * EXACT_BLOCK;
}

/* Return an upper bound of a segment's elements in slices of up to ${largest}. */
static size_t
exact_longest_segment(size_t largest, int ranks)
{
	/* exact_segment_begin rounds each bound down; the last rank has the remainder. */
	size_t segment = largest / (size_t)ranks + (size_t)ranks + EXACT_BLOCK;

	return segment < largest ? segment : largest;
}

size_t
exact_buffer_bytes(int leaves, int rank, int ranks, size_t largest, size_t elem)
{
	size_t parts = 0;

	for (int r = 0; r < ranks; r++) {
		int first, count = split(leaves, r, ranks, &first);
		struct tree t;

		tree_of(leaves, first, count, &t);
		parts += r == rank ? 0 : (size_t)t.n;
	}
	return parts * exact_longest_segment(largest, ranks) * elem;
}

void
exact_distribute(struct exact *e, const int *begin)
{
	int size = e->comm->size, parts = 0;
	size_t capacity;

	e->leaves = begin[size];
	for (int r = 0; r < size; r++) {
		tree_of(e->leaves, begin[r], begin[r + 1] - begin[r],
		    &e->of[r]);
		parts += e->of[r].n;
	}
	capacity = (size_t)(parts - e->of[e->comm->rank].n) *
	    exact_longest_segment(e->max, size) * e->elem;
	e->scatter.n = 0;
	if (parts > e->positions) {
		e->positions = parts;
		e->place = xrealloc(e->place, (size_t)parts,
		    sizeof(*e->place));
	}
	if (capacity > e->room_bytes) {
		e->room_bytes = capacity;
		e->buffer = xrealloc(e->buffer, capacity, 1);
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
		exact_distribute(e, e->begin);
	}
	return split(leaves, e->comm->rank, size, first);
}

/* Buffers of the list.  This rank's subtrees follow from EXACT_SUBTREE. */
enum { EXACT_BUFFER, EXACT_RESULT, EXACT_SUBTREE };

/*
 * Send each rank its segment of this rank's subtrees, and receive this rank's
 * segment of the other ranks' subtrees into EXACT_BUFFER. Then e->place has the
 * addresses of all subtrees in the order of the leaves.
 */
static void
exact_list_exchange(struct exact *e)
{
	int rank = e->comm->rank;
	const size_t *start = e->start;
	size_t bytes = start[rank + 1] - start[rank], capacity = 0;
	struct address *p = e->place;

	for (int r = 0; r < e->comm->size; r++) {
		for (int k = 0; k < e->of[r].n; k++, p++) {
			if (r == rank) {
				*p = (struct address){ EXACT_SUBTREE + k,
					start[r] };
				continue;
			}
			*p = (struct address){ EXACT_BUFFER, capacity };
			capacity += bytes;
			collective_receive(&e->scatter, r, *p, bytes);
		}
		for (int k = 0; k < e->of[rank].n && r != rank; k++)
			collective_send(&e->scatter, r, (struct address){
			    EXACT_SUBTREE + k, start[r] },
			    start[r + 1] - start[r]);
	}
	assert(capacity <= e->room_bytes);
	collective_wait(&e->scatter);
}

/* Append the rest of the tree's additions over this rank's segment. */
static void
exact_list_sums(struct exact *e)
{
	const size_t *start = &e->start[e->comm->rank];
	size_t length = (start[1] - start[0]) / e->elem;
	struct tree whole = { .leaves = e->leaves };
	struct tree_sum sums[TREE_MAX];
	struct address *p = e->place;

	for (int r = 0; r < e->comm->size; r++)
		for (int k = 0; k < e->of[r].n; k++) {
			struct subtree s = e->of[r].part[k];
			int joins;

			s.data = p++;
			joins = tree_push(&whole, s, sums);
			for (int i = 0; i < joins; i++)
				collective_local(&e->scatter, COLLECTIVE_ADD,
				    *(const struct address *)sums[i].left,
				    *(const struct address *)sums[i].right,
				    length);
		}
	collective_local(&e->scatter, COLLECTIVE_COPY, (struct address){
	    EXACT_RESULT, start[0] },
	    *(const struct address *)whole.part[0].data, length);
}

/*
 * Make the list for ${n} elements.  Most slices have the size of the previous
 * one, so keep it.
 */
static void
exact_list(struct exact *e, size_t n)
{
	int size = e->comm->size;

	if (e->scatter.n > 0 && e->listed == n)
		return;
	e->scatter.n = 0;
	e->listed = n;
	for (int r = 0; r <= size; r++)
		e->start[r] = exact_segment_begin(0, n, r, size) * e->elem;
	exact_list_exchange(e);
	exact_list_sums(e);
}

size_t
exact_traffic(struct exact *e, size_t n)
{
	const size_t *start = &e->start[e->comm->rank];

	exact_list(e, n);
	return collective_sent(&e->scatter) + (size_t)(e->comm->size - 1) *
	    (start[1] - start[0]);
}

int
exact_reduce_scatter(struct exact *e, const struct tree *t, size_t from, size_t to,
    void *result)
{
	size_t at = from * e->elem;
	void *buffer[EXACT_SUBTREE + TREE_MAX] = { [EXACT_BUFFER] = e->buffer,
		[EXACT_RESULT] = (char *)result + at };
	const struct collective_memory m = { buffer, e->elem, NULL, e->add,
		e->arg };

	assert(t->n == e->of[e->comm->rank].n && (e->comm->size == 1 ||
	    to - from <= e->max));
	for (int k = 0; k < t->n; k++)
		buffer[EXACT_SUBTREE + k] = (char *)t->part[k].data + at;
	exact_list(e, to - from);
	return collective_run(e->comm, &e->scatter, &m);
}

int
exact_allreduce(struct exact *e, const struct tree *t, size_t from, size_t to,
    void *result)
{
	return exact_reduce_scatter(e, t, from, to, result) != 0 ? -1 :
	    comm_allgatherv(e->comm, (char *)result + from * e->elem, e->start);
}
