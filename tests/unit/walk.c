/*
 * The number of messages, bytes and rounds of the collectives with up to 4096
 * ranks, counted on their lists without executing them.
 */
#include <malloc.h>
#include <stdlib.h>

#include "base/cpus.h"
#include "base/mem.h"
#include "comm/allreduce.h"
#include "comm/exact.h"
#include "comm/halving.h"
#include "comm/segments.h"
#include "comm/walk.h"
#include "tap.h"

enum { ELEMENTS = 1 << 23 };	/* of a vector: 2 per rank and block */

static const int sizes[] = { 8, 64, 512, 1536, 4096 };
static const int odd_sizes[] = { 1, 2, 3, 5, 6, 7, 11, 13, 24, 40, 100, 513, 1000 };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Return log2 of ${n}, rounded up. */
static int
rounds(int n)
{
	int k = 0;

	while (1 << k < n)
		k++;
	return k;
}

/* Costs with which the end is the longest chain of messages. */
static double
one_hop(void *arg, int from, int to)
{
	(void)arg, (void)from, (void)to;
	return 1;
}

static const struct walk_costs walk_chain = { .latency = one_hop };

/* A collective to walk: appends the list of ${c}->rank. */
typedef void (*list_maker)(struct comm *c, struct collective *l);

static void
make_barrier(struct comm *c, struct collective *l)
{
	collective_barrier(l, c->rank, c->size);
}

static void
make_broadcast(struct comm *c, struct collective *l)
{
	collective_broadcast(l, c->rank, c->size, c->size / 3, 1000);
}

static void
make_maximum(struct comm *c, struct collective *l)
{
	collective_spread(l, c->rank, c->size, 8);
}

/* An all-gather of blocks of different sizes; some are empty. */
static void
make_gather(struct comm *c, struct collective *l)
{
	size_t *start = xcalloc((size_t)c->size + 1, sizeof(*start));

	for (int r = 0; r < c->size; r++)
		start[r + 1] = start[r] + (size_t)(r % 5) * 8;
	collective_gather_all(l, c->rank, c->size, start);
	free(start);
}

/* The reduce-scatter for ${leaves} of ${n} elements. */
static void
make_scatter_of(struct comm *c, int leaves, size_t n, struct collective *l)
{
	int *begin = xcalloc((size_t)c->size + 1, sizeof(*begin));

	for (int r = 0, first; r < c->size; r++)
		begin[r + 1] = begin[r] + split(leaves, r, c->size, &first);
	halving_list(comm_order(c), c->rank, begin, n, sizeof(float), l);
	free(begin);
}

static void
make_scatter(struct comm *c, struct collective *l)
{
	make_scatter_of(c, c->size, ELEMENTS, l);
}

/* Leaves that are not aligned with the tree. */
static void
make_unaligned(struct comm *c, struct collective *l)
{
	make_scatter_of(c, 3 * c->size + c->size / 2, 50000, l);
}

static void
make_segments(struct comm *c, struct collective *l)
{
	struct segments s;

	segments_open(&s, c, ELEMENTS, ELEMENTS);
	segments_gather_list(&s, sizeof(float), 0, ELEMENTS, l);
	segments_close(&s);
}

/* exact: the reduce-scatter, then the all-gather. */
static void
make_exact(struct comm *c, struct collective *l)
{
	make_scatter(c, l);
	make_segments(c, l);
}

/* Walk the lists of ${size} ranks.  Return 0, or -1 after a message. */
static int
walk(list_maker make, int size, struct walk *w)
{
	struct comm *c = comm_planned(size);
	struct collective *list = xcalloc((size_t)size, sizeof(*list));
	int bad;

	for (c->rank = 0; c->rank < size; c->rank++)
		make(c, &list[c->rank]);
	bad = walk_lists(list, size, &walk_chain, NULL, w);
	for (int r = 0; r < size; r++)
		collective_free(&list[r]);
	free(list);
	c->rank = 0;
	comm_free(c);
	return bad;
}

static void
small_collectives(void)
{
	static const struct { const char *name; list_maker make; int factor; }
	    kind[] = {
		{ "barrier", make_barrier, 1 },
		{ "broadcast", make_broadcast, 1 },
		{ "maximum", make_maximum, 1 },
		{ "all-gather", make_gather, 2 },
	};
	struct walk w;

	for (size_t k = 0; k < COUNT(kind); k++)
		for (size_t i = 0; i < COUNT(sizes); i++) {
			int bad = walk(kind[k].make, sizes[i], &w);
			int most = kind[k].factor * rounds(sizes[i]);

			ok(!bad && w.messages <= (size_t)most && w.end <=
			    rounds(sizes[i]), "%s, %d ranks: %zu messages "
			    "(at most %d), chain of %g", kind[k].name, sizes[i],
			    w.messages, most, w.end);
		}
}

static void
exact_sums(void)
{
	struct walk w;

	for (size_t i = 0; i < COUNT(sizes); i++) {
		double p = sizes[i], least = 2 * (p - 1) / p * ELEMENTS *
		    sizeof(float);
		int bad = walk(make_exact, sizes[i], &w);
		int most = 4 * rounds(sizes[i]) + 2;

		ok(!bad && w.messages <= (size_t)most, "exact, %d ranks: %zu "
		    "messages (at most %d), chain of %g", sizes[i], w.messages,
		    most, w.end);
		ok((double)w.all_bytes <= 1.01 * least * p && (double)w.bytes <=
		    1.01 * least, "exact, %d ranks: at most %.4f of the bytes of "
		    "a reduce-scatter and an all-gather", sizes[i],
		    (double)w.bytes / least);
	}
}

/* Lists of any number of ranks match, aligned with the tree or not. */
static void
any_ranks(void)
{
	static const list_maker make[] = { make_barrier, make_broadcast,
		make_maximum, make_gather, make_exact, make_unaligned };
	int bad = 0;
	struct walk w;

	for (size_t k = 0; k < COUNT(make); k++)
		for (size_t i = 0; i < COUNT(odd_sizes); i++)
			bad += walk(make[k], odd_sizes[i], &w) != 0;
	is(bad, 0, "the lists of any number of ranks match");
}

/* A walk finds lists that do not match. */
static void
mismatches(void)
{
	struct collective list[2] = { 0 };
	struct walk w;

	collective_send(&list[0], 1, (struct address){ 0, 0 }, 8);
	ok(walk_lists(list, 2, &walk_chain, NULL, &w) != 0,
	    "a message that nobody receives is found");
	collective_receive(&list[1], 0, (struct address){ 0, 0 }, 4);
	ok(walk_lists(list, 2, &walk_chain, NULL, &w) != 0,
	    "a message of another size is found");
	list[1].op[0].n = 8;
	ok(walk_lists(list, 2, &walk_chain, NULL, &w) == 0 && w.end == 1,
	    "lists that match are accepted");
	collective_receive(&list[1], 0, (struct address){ 0, 0 }, 8);
	ok(walk_lists(list, 2, &walk_chain, NULL, &w) != 0,
	    "a wait for a message that nobody sends is found");
	collective_free(&list[0]);
	collective_free(&list[1]);
}

static void
nothing(void *arg, void *sum, const void *x, size_t n)
{
	(void)arg, (void)sum, (void)x, (void)n;
}

/* Return the bytes allocated for exact sums of a rank of ${size}. */
static size_t
memory_of(int size)
{
	struct comm *c = comm_planned(size);
	struct exact e;
	struct segments s;
	size_t before = mallinfo2().uordblks, after;
	int first;

	segments_open(&s, c, 1 << 24, 1 << 20);
	exact_open(&e, c, sizeof(float), nothing, NULL, s.bucket);
	exact_leaves(&e, size, &first);
	after = mallinfo2().uordblks;
	exact_close(&e);
	segments_close(&s);
	comm_free(c);
	return after - before;
}

static void
memory(void)
{
	size_t few = memory_of(512), many = memory_of(4096);

	ok(many - few <= 64 * (4096 - 512), "the memory of a rank grows by %.1f "
	    "bytes per rank of the job", (double)(many - few) / (4096 - 512));
}

int
main(void)
{
	small_collectives();
	exact_sums();
	any_ranks();
	mismatches();
	memory();
	return done();
}
