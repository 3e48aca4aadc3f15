/*
 * The exact sum over ranks: the summation tree gives the same bits for every
 * number of ranks, ranks hold few subtrees, and the bytes sent are those
 * declared.  Ranks are threads.
 */
#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "comm/exact.h"
#include "comm/segments.h"

#include "tap.h"
#include "tools/threads/threads.h"

enum { EVEN = 16 * EXACT_BLOCK, N = EVEN + 3 };	/* elements of a vector */

static void
add(void *arg, void *sum, const void *x, size_t n)
{
	(void)arg;
	for (size_t i = 0; i < n; i++)
		((float *)sum)[i] += ((const float *)x)[i];
}

/*
 * Return the vector of leaf ${i}, with values of very different magnitudes.
 * The caller frees it.
 */
static float *
leaf(int i)
{
	float *v = xcalloc(N, sizeof(*v));

	for (uint32_t k = 0; k < N; k++)
		v[k] = (float)(rng_normal(3, (uint32_t)i, k) *
		    (double)(1 << k % 20));
	return v;
}

/*
 * The definition: node(k, i) = node(k - 1, 2 i) + node(k - 1, 2 i + 1); the
 * second term only if that node has leaves.
 */
static double
node(const double *v, int leaves, int level, int index)
{
	if (level == 0)
		return v[index];
	if (((2 * index + 1) << (level - 1)) >= leaves)
		return node(v, leaves, level - 1, 2 * index);
	return node(v, leaves, level - 1, 2 * index) +
	    node(v, leaves, level - 1, 2 * index + 1);
}

enum { RANKS = 16 };			/* maximum in these tests */

struct job {
	int leaves, n;			/* n: elements to sum, at most N */
	float *result[RANKS];
	size_t sent[RANKS], said[RANKS];
};

/* One rank: make its leaves, add subtrees, reduce in two slices. */
static void
rank_main(struct comm *c, void *arg)
{
	struct job *j = arg;
	struct exact e;
	struct tree t = { .leaves = j->leaves };
	struct tree_sum sums[TREE_MAX];
	int first, count;
	float *result = xcalloc(N, sizeof(*result));
	void *owned[256];
	size_t cut;

	exact_open(&e, c, sizeof(float), add, NULL, N);
	count = exact_leaves(&e, j->leaves, &first);
	for (int i = 0; i < count; i++) {
		int n = tree_push(&t, (struct subtree){ 0, first + i,
		    owned[i] = leaf(first + i) }, sums);

		for (int k = 0; k < n; k++)
			add(NULL, sums[k].left, sums[k].right, N);
	}
	cut = j->n > EVEN ? 1000 : EVEN / 2;
	exact_allreduce(&e, &t, cut, (size_t)j->n, result);
	exact_allreduce(&e, &t, 0, cut, result);
	j->result[c->rank] = result;
	j->sent[c->rank] = comm_threads_sent(c);
	j->said[c->rank] = exact_traffic(&e, (size_t)j->n - cut) +
	    exact_traffic(&e, cut);
	for (int i = 0; i < count; i++)
		free(owned[i]);
	exact_close(&e);
}

static void
test_ranks(int leaves)
{
	float *want = NULL;
	int same = 1, traffic = 1;

	for (int size = 1; size <= RANKS && size <= leaves; size++) {
		struct job j = { .leaves = leaves, .n = N };

		comm_threads(size, rank_main, &j);
		for (int r = 0; r < size; r++) {
			traffic &= j.sent[r] == j.said[r];
			if (want == NULL) {
				want = j.result[r];
				continue;
			}
			same &= memcmp(want, j.result[r], N * sizeof(float)) == 0;
			free(j.result[r]);
		}
	}
	free(want);
	ok(same, "%d leaves: 1 to 16 ranks get the same bits", leaves);
	ok(traffic, "%d leaves: ranks send the bytes that exact_traffic returns",
	    leaves);
}

static void
test_definition(void)
{
	double v[100];
	int bad = 0;

	for (uint32_t i = 0; i < 100; i++)
		v[i] = rng_normal(1, 1, i) * (double)(1 << i % 30);
	for (int leaves = 1, level = 0; leaves <= 100; leaves++) {
		while (1 << level < leaves)
			level++;
		bad += exact_sum(v, leaves) != node(v, leaves, level, 0);
	}
	is(bad, 0, "exact_sum is the defined tree for 1 to 100 leaves");
}

static void
test_subtrees(void)
{
	struct tree t;
	int largest = 0, bad = 0;

	tree_of(8, 2, 3, &t);
	ok(t.n == 2 && t.part[0].level == 1 && t.part[0].index == 1 &&
	    t.part[1].level == 0 && t.part[1].index == 4,
	    "leaves 2 to 4 of 8 are nodes (1, 1) and (0, 4)");
	tree_of(6, 4, 2, &t);
	ok(t.n == 1 && t.part[0].level == 2 && t.part[0].index == 1,
	    "the last two of 6 leaves are node (2, 1)");
	for (int leaves = 1; leaves <= 256; leaves++)
		for (int size = 1; size <= leaves && size <= 17; size++)
			for (int r = 0; r < size; r++) {
				int a = leaves * r / size;
				int b = leaves * (r + 1) / size;

				tree_of(leaves, a, b - a, &t);
				largest = t.n > largest ? t.n : largest;
				bad += t.n < 1;
			}
	ok(bad == 0 && largest <= 14, "a rank holds at most 2 log2 L subtrees");
}

/*
 * With one subtree per rank, all ranks together send exactly 2 (P - 1) vectors,
 * as a reduce-scatter and an all-gather do.  If P divides the vector, each rank
 * sends a P-th of them.
 */
static void
test_traffic(void)
{
	static const int sizes[] = { 2, 3, 4, 6, 8, 12, 16 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int size = sizes[i];

		for (int odd = 0; odd <= 3; odd += 3) {
			struct job j = { .leaves = 2 * size, .n = EVEN + odd };
			size_t each = 2 * (size_t)(size - 1) *
			    (size_t)(j.n / size) * sizeof(float), sum = 0;
			int even = 1, divides = EVEN % size == 0 && !odd;

			comm_threads(size, rank_main, &j);
			for (int r = 0; r < size; r++) {
				even &= j.sent[r] == each;
				sum += j.sent[r];
				free(j.result[r]);
			}
			ok(sum == 2 * (size_t)(size - 1) * (size_t)j.n *
			    sizeof(float), "%d ranks, %d elements: together "
			    "they send 2 (P - 1) vectors", size, j.n);
			ok(even || !divides, "%d ranks, %d elements: each sends an "
			    "equal part if P divides them", size, j.n);
		}
	}
}

/* ---- the same with owners: reduce-scatter, then all-gather ---- */

/*
 * One rank: reduce-scatter each bucket, then all-gather.  Elements of other
 * owners are NaN in between.
 */
static void
owner_main(struct comm *c, void *arg)
{
	struct job *j = arg;
	struct segments own;
	struct exact e;
	struct tree t = { .leaves = j->leaves };
	struct tree_sum sums[TREE_MAX];
	int first, count, n;
	float *result = xcalloc(N, sizeof(*result));
	void *owned[256];

	segments_open(&own, c, N, 3 * EXACT_BLOCK);
	exact_open(&e, c, sizeof(float), add, NULL, own.bucket);
	count = exact_leaves(&e, j->leaves, &first);
	for (int i = 0; i < count; i++) {
		n = tree_push(&t, (struct subtree){ 0, first + i,
		    owned[i] = leaf(first + i) }, sums);
		for (int k = 0; k < n; k++)
			add(NULL, sums[k].left, sums[k].right, N);
	}
	for (size_t from = 0; from < N; from += own.bucket) {
		size_t to = from + own.bucket < N ? from + own.bucket : N;

		exact_reduce_scatter(&e, &t, from, to, result);
		j->said[c->rank] += exact_traffic(&e, to - from);
	}
	for (int i = 0; i < segments_count(&own); i++) {
		struct segment g = segments_get(&own, i);

		for (size_t k = 0; k < g.n; k++)
			if (g.rank != c->rank)
				result[g.at + k] = NAN;
	}
	segments_gather(&own, result, sizeof(float));
	j->result[c->rank] = result;
	j->sent[c->rank] = comm_threads_sent(c);
	for (int i = 0; i < count; i++)
		free(owned[i]);
	exact_close(&e);
	segments_close(&own);
}

/*
 * Return the number of elements of the rank at position ${p} if buckets have
 * ${bucket} elements.
 */
static size_t
owned_by(size_t elements, size_t bucket, int p, int ranks)
{
	size_t n = 0;

	for (size_t from = 0; from < elements; from += bucket) {
		size_t to = from + bucket < elements ? from + bucket : elements;

		n += exact_segment_begin(from, to, p + 1, ranks) -
		    exact_segment_begin(from, to, p, ranks);
	}
	return n;
}

/*
 * Count faults: each element has one owner, and what an owner holds is
 * contiguous.
 */
static int
well_owned(int size, size_t elements, size_t largest)
{
	struct comm *c = comm_planned(size);
	struct segments s;
	size_t at = 0, *held = xcalloc((size_t)size, sizeof(*held));
	int bad = 0, own = 0;

	segments_open(&s, c, elements, largest);
	bad += s.bucket > largest || s.bucket % EXACT_BLOCK != 0;
	for (int i = 0; i < segments_count(&s); i++) {
		struct segment g = segments_get(&s, i);

		if (g.n == 0)
			continue;
		bad += g.at != at || g.held != held[g.rank];
		bad += g.at % EXACT_BLOCK != 0;
		if (g.rank == 0) {
			const struct segment *mine = &s.segment[own++];

			bad += mine->at != g.at || mine->n != g.n ||
			    mine->held != g.held || mine->rank != 0;
		}
		at += g.n;
		held[g.rank] += g.n;
	}
	bad += at != elements || own != s.n;
	for (int r = 0; r < size; r++)
		bad += held[r] != segments_owned(&s, r) || held[r] != owned_by(
		    elements, s.bucket, comm_order(c)->position[r], size);
	segments_close(&s);
	comm_free(c);
	free(held);
	return bad;
}

/* Count faults of segments that are whole vectors. */
static int
well_distributed(int size, int vectors)
{
	struct comm *c = comm_planned(size);
	struct segments s;
	size_t *held = xcalloc((size_t)size, sizeof(*held));
	int bad = 0;

	segments_distribute(&s, c, 10, vectors);
	bad += segments_count(&s) != vectors;
	for (int i = 0; i < vectors; i++) {
		struct segment g = segments_get(&s, i);

		bad += g.at != (size_t)i * 10 || g.n != 10 ||
		    g.held != held[g.rank];
		held[g.rank] += g.n;
	}
	for (int r = 0; r < size; r++)
		bad += held[r] != segments_owned(&s, r);
	segments_close(&s);
	comm_free(c);
	free(held);
	return bad;
}

static void
test_owners(void)
{
	static const size_t elements[] = { 0, 1, 16, 1023, 1024, 1025, 9999,
		50000, 1 << 20, (1 << 20) + 16 };
	struct job one = { .leaves = 13, .n = N };
	int bad = 0, same = 1, traffic = 1;

	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++)
		for (int size = 1; size <= 17; size++)
			for (size_t largest = 1; largest <= 64; largest *= 4)
				bad += well_owned(size, elements[i],
				    largest * EXACT_BLOCK);
	for (int size = 1; size <= 17; size++)
		for (int vectors = size; vectors <= 30; vectors++)
			bad += well_distributed(size, vectors);
	is(bad, 0, "each element has one owner, in whole blocks");
	comm_threads(1, rank_main, &one);
	for (int size = 1; size <= 13; size++) {
		struct job j = { .leaves = 13, .n = N };

		comm_threads(size, owner_main, &j);
		for (int r = 0; r < size; r++) {
			same &= memcmp(one.result[0], j.result[r],
			    N * sizeof(float)) == 0;
			traffic &= j.sent[r] == (size == 1 ? 0 : j.said[r]);
			free(j.result[r]);
		}
	}
	free(one.result[0]);
	ok(same, "reduce-scatter and all-gather give the bits of one rank");
	ok(traffic, "reduce-scatter and all-gather send as many bytes as "
	    "exact_traffic returns");
}

static void
collectives(struct comm *c, void *arg)
{
	int *bad = arg;
	int64_t v = c->rank == 3 ? 70 : c->rank, all[RANKS];
	char word[16] = "";

	if (c->rank == 2)
		strcpy(word, "hello");
	comm_broadcast(c, word, sizeof(word), 2);
	comm_allgather(c, &v, sizeof(v), all);
	comm_max(c, &v);
	comm_barrier(c);
	for (int r = 0; r < c->size; r++)
		if (all[r] != (r == 3 ? 70 : r))
			__atomic_fetch_add(bad, 1, __ATOMIC_RELAXED);
	if (v != 70 || strcmp(word, "hello") != 0)
		__atomic_fetch_add(bad, 1, __ATOMIC_RELAXED);
}

int
main(void)
{
	static const int leaves[] = { 1, 2, 3, 5, 8, 13, 16, 32, 100 };
	int bad = 0;

	test_definition();
	test_subtrees();
	for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++)
		test_ranks(leaves[i]);
	test_traffic();
	test_owners();
	for (int size = 4; size <= RANKS; size++)
		comm_threads(size, collectives, &bad);
	is(bad, 0,
	    "broadcast, all-gather, maximum and barrier work on 4 to 16 ranks");
	return done();
}
