/*
 * Sums over ranks in any order: every algorithm gives the plain sum on 1 to 9
 * ranks, on hosts of many kinds, with odd lengths.  Each algorithm sends the
 * number of bytes that it declares, and 16-bit formats round as specified.
 * Ranks are threads.
 */
#include <stdint.h>

#include "base/mem.h"
#include "base/rng.h"
#include "comm/allreduce.h"
#include "comm/wire_kernels.h"

#include "tap.h"
#include "tools/threads/threads.h"

enum { MAX = 9, BEFORE = 3, AFTER = 2 };	/* elements around the range */

/* The host of each rank: the number of its first rank. */
static const struct { const char *what; int host[MAX]; } places[] = {
	{ "one host", { 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ "a host per rank", { 0, 1, 2, 3, 4, 5, 6, 7, 8 } },
	{ "two ranks per host", { 0, 0, 2, 2, 4, 4, 6, 6, 8 } },
	{ "hosts in rotation", { 0, 1, 2, 0, 1, 2, 0, 1, 2 } },
	{ "unequal hosts", { 0, 0, 0, 0, 4, 4, 6, 6, 6 } },
};
#define PLACES (sizeof(places) / sizeof(places[0]))

struct job {
	struct allreduce_options o;
	size_t n;
	int whole;			/* values whose sum is exact */
	float *result[MAX];
	size_t sent[MAX], said[MAX];
	int bad;
};

static float
value(const struct job *j, int rank, size_t i)
{
	if (j->whole)
		return (float)((i * 7 + (size_t)rank * 13) % 17) - 8;
	return (float)(rng_normal(5, (uint32_t)rank, (uint32_t)i) *
	    (double)(1 << i % 12));
}

static void
rank_main(struct comm *c, void *arg)
{
	struct job *j = arg;
	size_t n = j->n + BEFORE + AFTER;
	float *x = xcalloc(n, sizeof(*x));
	struct allreduce a;
	int bad = 0;

	for (size_t i = 0; i < n; i++)
		x[i] = value(j, c->rank, i);
	if (allreduce_open(&a, c, &j->o) != 0) {
		__atomic_fetch_add(&j->bad, 1, __ATOMIC_RELAXED);
		free(x);
		return;
	}
	bad += allreduce_run(&a, x, BEFORE, BEFORE + j->n) != 0;
	for (size_t i = 0; i < n; i++)
		if (i < BEFORE || i >= BEFORE + j->n)
			bad += x[i] != value(j, c->rank, i);
	j->result[c->rank] = x;
	j->sent[c->rank] = comm_threads_sent(c);
	j->said[c->rank] = allreduce_sends(&a, j->n);
	allreduce_close(&a);
	__atomic_fetch_add(&j->bad, bad, __ATOMIC_RELAXED);
}

/*
 * Return the error bound of element ${i}.  A message rounds the sum's
 * magnitudes by at most u, and a sum passes through at most as many messages as
 * there are steps.
 */
static double
bound(const struct job *j, const struct allreduce_options *o, int ranks,
    size_t i, double largest)
{
	double u = o->wire == &wires[WIRE_BF16] ? 0x1p-8 :
	    o->wire == &wires[WIRE_FP16] ? 0x1p-11 : 0x1p-24, sum = 0;

	for (int r = 0; r < ranks; r++)
		sum += fabs((double)value(j, r, i));
	return (pow(1 + u + 0x1p-24, 2 * ranks + 2) - 1) * sum +
	    (o->wire == &wires[WIRE_FP16] ? 2 * ranks * 0x1p-38 * largest : 0);
}

/* Count the wrong results of all ranks, and free the results. */
static int
faults(struct job *j, int ranks)
{
	size_t sent = 0;
	double largest = 0;
	int bad = j->bad;

	for (size_t i = BEFORE; i < BEFORE + j->n; i++) {
		double want = 0;

		for (int r = 0; r < ranks; r++)
			want += (double)value(j, r, i);
		largest = fmax(largest, 1000.0 * ranks * (1 << 11));
		for (int r = 0; r < ranks; r++)
			bad += !(fabs(j->result[r][i] - want) <= (j->whole ? 0 :
			    bound(j, &j->o, ranks, i, largest)));
	}
	for (int r = 0; r < ranks; r++) {
		bad += memcmp(j->result[r] + BEFORE, j->result[0] + BEFORE,
		    j->n * sizeof(float)) != 0;
		bad += j->sent[r] != j->said[r];
		sent += j->sent[r];
	}
	/* With a power of two, no algorithm sends more than the minimum. */
	if (j->o.wire->head == 0 && (ranks & (ranks - 1)) == 0)
		bad += sent != 2 * (size_t)(ranks - 1) *
		    wire_bytes(j->o.wire, sizeof(float), j->n);
	for (int r = 0; r < ranks; r++)
		free(j->result[r]);
	return bad;
}

static int
try(const struct algorithm *k, const struct wire *w, const int *host, int ranks,
    int columns, size_t n, int whole)
{
	struct job j = { .n = n, .whole = whole, .o = { .kind = k, .wire = w,
		.columns = columns, .host = host, .elem = sizeof(float),
		.add = wire_sum, .max = n } };

	comm_threads(ranks, rank_main, &j);
	return faults(&j, ranks);
}

/*
 * Formats that round run half of the lengths and of the layouts: one host, two
 * ranks per host, and unequal hosts.
 */
static void
test_sums(const struct algorithm *k, const struct wire *w)
{
	static const size_t lengths[] = { 7, 1031, 0, 1 };

	for (size_t p = 0; p < PLACES; p++) {
		int bad = 0;

		if (w->elem > 0 && p % 2 != 0)
			continue;
		for (int ranks = 1; ranks <= MAX; ranks++)
			for (size_t i = 0; i < (w->elem > 0 ? 2 : 4); i++)
				bad += try(k, w, places[p].host, ranks, 0,
				    lengths[i], w->elem == 0 && i != 1);
		ok(bad == 0,
		    "%s sums in %s on %s of 1 to 9 ranks", k->name, w->name,
		    places[p].what);
	}
}

/* Try every grid of 1 to 9 ranks. */
static void
test_grids(void)
{
	const struct algorithm *torus = algorithm_find("torus");
	const struct algorithm *halving = algorithm_find("halving");
	int bad = 0;

	for (int ranks = 1; ranks <= MAX; ranks++)
		for (int x = 1; x <= ranks; x++) {
			if (ranks % x != 0)
				continue;
			bad += try(torus, wires, places[0].host, ranks, x, 103,
			    0);
			bad += try(halving, wires, places[0].host, ranks, x,
			    103, 0);
		}
	is(bad, 0, "torus and halving sum right on every grid of 1 to 9 ranks");
}

static void
test_choices(void)
{
	const struct algorithm *torus = algorithm_find("torus");
	const struct algorithm *halving = algorithm_find("halving");
	const struct algorithm *ring = algorithm_find("ring");
	const int *one = places[0].host, *each = places[1].host;
	const int *two = places[2].host, *turns = places[3].host;
	struct grid g;

	is(torus->columns(two, 8), 2, "torus: a row is a host");
	is(torus->columns(turns, 9), 3,
	    "torus: a row is a host if its ranks are not neighbours");
	is(torus->columns(each, 8), 2,
	    "torus: with one rank per host the grid is as square as possible");
	is(torus->columns(one, 7), 1,
	    "torus: a prime number of ranks forms a ring");
	is(torus->columns(two, 5), 1,
	    "torus: ranks on unequal hosts form a ring");
	is(halving->columns(one, 7), 7, "halving: one host is one row");
	is(halving->columns(each, 7), 1,
	    "halving: one rank per host gives one column");
	is(torus->steps(4, 2), 8, "torus takes 2 (X - 1) + 2 (Y - 1) steps");
	is(ring->steps(1, 8), 14, "a ring takes 2 (P - 1) steps");
	is(halving->steps(4, 8), 8, "halving takes 2 + 2 log2 Y steps");
	is(halving->steps(1, 6), 6,
	    "halving takes two more steps if Y is not a power of two");
	grid_open(&g, turns, 9, 3, 4);
	ok(g.hosts == 3 && g.rank[0] == 0 && g.rank[1] == 3 && g.rank[2] == 6 &&
	    g.rank[3] == 1 && g.me == 4,
	    "grid_open puts the ranks of a host in a row");
	grid_close(&g);
}

static void
refused(struct comm *c, void *arg)
{
	struct job *j = arg;
	struct allreduce a;

	if (allreduce_open(&a, c, &j->o) != 0)
		__atomic_fetch_add(&j->bad, 1, __ATOMIC_RELAXED);
	allreduce_close(&a);
}

static void
test_refused(void)
{
	struct job j = { .o = { .kind = algorithm_find("torus"), .wire = wires,
		.columns = 4, .host = places[0].host, .elem = 4,
		.add = wire_sum, .max = 9 } };

	comm_threads(6, refused, &j);
	is(j.bad, 6, "6 ranks in 4 columns are refused");
	j.bad = j.o.columns = 0;
	j.o.wire = &wires[WIRE_BF16];
	j.o.elem = 8;
	comm_threads(2, refused, &j);
	is(j.bad, 2, "doubles in a 16-bit format are refused");
	j.bad = 0;
	j.o.wire = wires;
	j.o.elem = 4;
	j.o.kind = algorithm_find("native");
	comm_threads(2, refused, &j);
	is(j.bad, 2,
	    "native is refused by threads, which have no device library");
}

/* ---- 16-bit numbers ---- */

/*
 * Round to the nearest number of ${digits} binary digits with an exponent of at
 * least ${least}, ties to even.
 */
static double
nearest(double x, int digits, int least)
{
	int e;
	double unit;

	frexp(x, &e);
	unit = ldexp(1, (e > least ? e : least) - digits);
	return nearbyint(x / unit) * unit;
}

static void
test_rounding(void)
{
	enum { N = 100003 };
	float *x = xcalloc(N, sizeof(*x)), *y = xcalloc(N, sizeof(*y));
	uint16_t *half = xcalloc(N + 2, sizeof(*half));
	int bad = 0, far = 0;
	double largest = 0;

	for (uint32_t i = 0; i < N; i++)
		x[i] = (float)ldexp(rng_normal(1, 2, i), (int)(i % 60) - 40);
	/* Ties in both directions. */
	x[0] = 1 + 0x1p-8f;
	x[1] = 1 + 0x3p-8f;
	x[2] = -(1 + 0x1p-8f);
	wires[WIRE_BF16].pack(half, x, N);
	wires[WIRE_BF16].unpack(y, half, N);
	for (int i = 0; i < N; i++)
		bad += y[i] != (float)nearest(x[i], 8, -200);
	is(bad, 0,
	    "bf16 rounds to the nearest number of 8 digits, ties to even");
	for (int i = 0; i < N; i++)
		largest = fmax(largest, fabs((double)x[i]));
	wires[WIRE_FP16].pack(half, x, N);
	wires[WIRE_FP16].unpack(y, half, N);
	bad = 0;
	for (int i = 0; i < N; i++) {
		int e;

		/*
		 * The scale gives the largest value exponent 15; the unit is
		 * 2^-24 then.
		 */
		frexp(largest, &e);
		bad += y[i] != (float)nearest(x[i], 11, e - 15 - 13);
		far += y[i] == 0 && x[i] != 0;
	}
	ok(bad == 0 && far > 0,
	    "fp16 rounds to 11 digits and the scale keeps it in range");
	memset(x, 0, N * sizeof(*x));
	x[5] = INFINITY;
	x[6] = NAN;
	x[7] = 1e30f;
	for (int w = WIRE_BF16; w < WIRES; w++) {
		wires[w].pack(half, x, 9);
		wires[w].unpack(y, half, 9);
		ok(y[5] == INFINITY && isnan(y[6]) && y[0] == 0 && y[7] > 1e29f,
		    "%s: infinity and NaN survive", wires[w].name);
	}
	x[5] = x[6] = 0;
	x[7] = 0x1p-140f;
	wires[WIRE_FP16].pack(half, x, 9);
	wires[WIRE_FP16].unpack(y, half, 9);
	ok(y[7] == 0x1p-140f || y[7] == 0,
	    "fp16: the smallest fp32 number becomes itself or 0");
	free(x);
	free(y);
	free(half);
}

static void
test_sets(void)
{
	enum { N = 1000 };
	const struct wire_kernels *best = ISA_PICK(&wire_kernels);
	const struct wire_kernels *base = &wire_kernels_base;
	float *x = xcalloc(N, sizeof(*x)), a[N], b[N];
	uint16_t h[N], g[N];
	int bad = 0;

	for (uint32_t i = 0; i < N; i++)
		x[i] = (float)ldexp(rng_normal(9, 2, i), (int)(i % 50) - 30);
	bad += best->largest(x, N) != base->largest(x, N);
	best->bf16_pack(h, x, N);
	base->bf16_pack(g, x, N);
	bad += memcmp(h, g, sizeof(h)) != 0;
	memcpy(a, x, sizeof(a));
	memcpy(b, x, sizeof(b));
	best->bf16_add(a, h, N);
	base->bf16_add(b, h, N);
	bad += memcmp(a, b, sizeof(a)) != 0;
	best->fp16_pack(h, x, N, 0x1p-9f);
	base->fp16_pack(g, x, N, 0x1p-9f);
	bad += memcmp(h, g, sizeof(h)) != 0;
	best->fp16_add(a, h, N, 0x1p9f);
	base->fp16_add(b, h, N, 0x1p9f);
	bad += memcmp(a, b, sizeof(a)) != 0;
	is(bad, 0, "the kernels of every instruction set give the same bits");
	free(x);
}

int
main(void)
{
	test_rounding();
	test_sets();
	test_choices();
	test_refused();
	test_grids();
	for (const struct algorithm *k = algorithms; k->name != NULL; k++)
		for (int w = 0; w < WIRES && strcmp(k->name, "native") != 0; w++)
			test_sums(k, &wires[w]);
	return done();
}
