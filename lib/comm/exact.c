/* The fixed summation tree, and its reduce-scatter over ranks. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/mem.h"
#include "base/number.h"
#include "comm/exact.h"
#include "comm/halving.h"
#include "comm/segments.h"

int
tree_push(struct tree *t, struct subtree s, struct tree_sum *sums)
{
	int n = 0, root = log2_up(t->leaves);

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
	int root = log2_up(leaves), end = first + count;

	*t = (struct tree){ .leaves = leaves };
	while (first < end) {
		long long next = first + 1;
		int level = 0;

		/* Go up while the node begins here and ends within the range;
		 * a node may extend beyond the last leaf. */
		while (level < root && first % (2LL << level) == 0) {
			long long to = first + (2LL << level);

			to = to < leaves ? to : leaves;
			if (to > end)
				break;
			next = to;
			level++;
		}
		assert(t->n < TREE_MAX);
		t->part[t->n++] = (struct subtree){ level, first >> level,
			NULL };
		first = (int)next;
	}
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
			*(double *)sums[k].left +=
			    *(const double *)sums[k].right;
	}
	return sum[0];
}

static void
exact_free_buffer(struct exact *e)
{
	if (e->device != NULL)
		e->device->free(e->arg, e->buffer);
	else
		free(e->buffer);
	e->buffer = NULL;
	e->capacity = 0;
}

/* Make the receive buffer hold ${bytes}.  Return 0, or -1 after a message. */
static int
exact_reserve(struct exact *e, size_t bytes)
{
	if (bytes <= e->capacity)
		return 0;
	exact_free_buffer(e);
	e->buffer = e->device != NULL ? e->device->alloc(e->arg, bytes) :
	    xmalloc(bytes);
	e->capacity = e->buffer != NULL ? bytes : 0;
	return e->buffer != NULL ? 0 : -1;
}

void
exact_open(struct exact *e, struct comm *c, size_t elem,
    void (*add)(void *, void *, const void *, size_t), void *arg,
    size_t largest)
{
	*e = (struct exact){ .comm = c, .elem = elem, .add = add,
		.arg = arg, .max = largest };
	e->begin = xcalloc((size_t)c->size + 1, sizeof(*e->begin));
}

void
exact_close(struct exact *e)
{
	free(e->begin);
	exact_free_buffer(e);
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

size_t
exact_segment(struct comm *c, size_t from, size_t to, size_t *end)
{
	int p = comm_order(c)->position[c->rank];

	*end = exact_segment_begin(from, to, p + 1, c->size);
	return exact_segment_begin(from, to, p, c->size);
}

/* Write to ${begin}[ranks + 1] the first leaf of each rank, by split(). */
static void
exact_split(int leaves, int ranks, int *begin)
{
	for (int r = 0, first; r < ranks; r++)
		begin[r + 1] = begin[r] + split(leaves, r, ranks, &first);
}

size_t
exact_buffer_bytes(int leaves, int rank, int ranks, size_t largest, size_t elem)
{
	struct rank_order *o = rank_order_new(ranks);
	int *begin = xcalloc((size_t)ranks + 1, sizeof(*begin));
	struct collective l = { 0 };
	size_t bytes;

	exact_split(leaves, ranks, begin);
	bytes = halving_list(o, rank, begin, largest, elem, &l);
	collective_free(&l);
	free(begin);
	rank_order_free(o);
	return bytes;
}

int
exact_leaves(struct exact *e, int leaves, int *first)
{
	int n = split(leaves, e->comm->rank, e->comm->size, first);
	struct tree t;

	if (leaves == e->leaves)
		return n;
	exact_split(leaves, e->comm->size, e->begin);
	tree_of(leaves, *first, n, &t);
	e->leaves = leaves;
	e->subtrees = t.n;
	e->scatter.n = 0;
	return n;
}

/*
 * Make the list for ${n} elements, and its buffer.  Most slices have the size
 * of the previous one, so keep it.  Return 0, or -1 after a message.
 */
static int
exact_list(struct exact *e, size_t n)
{
	if (e->scatter.n > 0 && e->listed == n)
		return 0;
	e->scatter.n = 0;
	e->listed = n;
	return exact_reserve(e, halving_list(comm_order(e->comm), e->comm->rank,
	    e->begin, n, e->elem, &e->scatter));
}

/*
 * Make the segments of ${n} elements, whose all-gather they describe, as ${s}.
 */
static void
exact_segments(const struct exact *e, size_t n, struct segments *s)
{
	*s = (struct segments){ .comm = e->comm, .elements = n, .bucket = n };
}

size_t
exact_traffic(struct exact *e, size_t n)
{
	struct segments s;

	if (exact_list(e, n) != 0)
		return 0;
	exact_segments(e, n, &s);
	return collective_sent(&e->scatter) + segments_traffic(&s, e->elem);
}

int
exact_reduce_scatter(struct exact *e, const struct tree *t, size_t from,
    size_t to, void *result)
{
	size_t at = from * e->elem;
	void *buffer[HALVING_SUBTREE + TREE_MAX] = {
		[HALVING_RESULT] = (char *)result + at };
	const struct collective_memory m = { buffer, e->elem, NULL, e->add,
		e->arg, e->device };

	assert(t->n == e->subtrees && (e->comm->size == 1 ||
	    to - from <= e->max));
	if (exact_list(e, to - from) != 0)
		return -1;
	buffer[HALVING_BUFFER] = e->buffer;
	for (int k = 0; k < t->n; k++)
		buffer[HALVING_SUBTREE + k] = (char *)t->part[k].data + at;
	return collective_run(e->comm, &e->scatter, &m);
}

int
exact_allreduce(struct exact *e, const struct tree *t, size_t from, size_t to,
    void *result)
{
	struct segments s;

	exact_segments(e, to - from, &s);
	return exact_reduce_scatter(e, t, from, to, result) != 0 ? -1 :
	    segments_gather(&s, (char *)result + from * e->elem, e->elem);
}
