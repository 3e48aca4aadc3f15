/*
 * Sums over ranks: the exact exchange, which is the same tree on any number
 * of ranks, and the MPI library's own, which is free to add as it likes.
 *
 * The elements are small whole numbers, so that both give the same sum and
 * every element of it can be checked.
 */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "bench/allreduce.h"
#include "bench/cases.h"
#include "comm/cores.h"
#include "comm/exact.h"

double
allreduce_traffic(double bytes, int ranks)
{
	return 2 * bytes * (ranks - 1) / ranks;
}

struct job {
	const struct sum_options *o;
	struct exact exact;
	struct tree tree;		/* this rank's subtrees, whole vectors */
	int microbatches, first, count;	/* in all; this rank's */
	size_t n;			/* elements */
	float *result;
	int library;			/* the library's sum, not the exact one */
	struct figure seconds;
	int apart;			/* no processor is shared by ranks */
	char note[160];			/* how ranks are bound */
};

/*
 * Element i of a microbatch is one of PERIOD numbers from -8 to 8: so many, and
 * prime, that a piece in the wrong place shows.
 */
#define PERIOD 1009

/*
 * The sum of microbatches ${first} to ${end} - 1, for elements 0 to PERIOD -
 * 1.
 */
static void
sum_leaves(float v[PERIOD], int first, int end)
{
	for (uint32_t i = 0; i < PERIOD; i++) {
		v[i] = 0;
		for (uint32_t k = (uint32_t)first; k < (uint32_t)end; k++)
			v[i] += (float)((k * 7919 + i * 40503) % 8209 % 17) - 8;
	}
}

static void
fill(float *v, size_t n, int first, int end)
{
	float sum[PERIOD];

	sum_leaves(sum, first, end);
	for (size_t i = 0; i < n; i++)
		v[i] = sum[i % PERIOD];
}

/* By the calling thread, as back ends add during an exchange. */
static void
add(void *arg, void *sum, const void *x, size_t n)
{
	(void)arg;
	for (size_t i = 0; i < n; i++)
		((float *)sum)[i] += ((const float *)x)[i];
}

/* What the exchange uses up, anew; the library's sum begins in the result. */
static void
refill(struct job *j)
{
	const struct tree *t = &j->tree;

	for (int k = 0; k < t->n; k++) {
		int first = t->part[k].index << t->part[k].level;
		int end = (t->part[k].index + 1) << t->part[k].level;

		fill(t->part[k].data, j->n, first,
		    end < j->microbatches ? end : j->microbatches);
	}
	if (j->library)
		fill(j->result, j->n, j->first, j->first + j->count);
}

/* A run takes as long as on the slowest rank. */
static int
run(void *arg, int counts)
{
	struct job *j = arg;
	struct comm *c = j->o->comm;
	double start;
	int64_t ns;
	int bad;

	refill(j);
	if (comm_barrier(c) != 0)
		return EXIT_RANKS;
	start = clock_seconds();
	bad = j->library ? c->t->allreduce(c, j->result, j->n) :
	    exact_reduce(&j->exact, &j->tree, 0, j->n, j->result);
	ns = (int64_t)(1e9 * (clock_seconds() - start));
	if (bad || comm_max(c, &ns) != 0)
		return EXIT_RANKS;
	if (counts)
		figure_add(&j->seconds, (double)ns / 1e9);
	return 0;
}

/* Every element, on every rank; rank 0 hears of the others' mistakes. */
static int
check(struct bench *b, struct job *j, const char *what)
{
	float want[PERIOD];
	int64_t wrong = 0;
	size_t at = 0;

	bench_spoil(b, j->result, sizeof(float));
	sum_leaves(want, 0, j->microbatches);
	for (size_t i = 0; i < j->n; i++)
		if (j->result[i] != want[i % PERIOD])
			at = wrong++ == 0 ? i : at;
	if (wrong > 0)
		bench_wrong(b, "allreduce/%s/%zu: %lld elements of the sum, the "
		    "first at %zu", what, j->n * sizeof(float),
		    (long long)wrong, at);
	if (comm_max(j->o->comm, &wrong) != 0)
		return EXIT_RANKS;
	/* One word from each rank that is wrong is enough. */
	b->wrong += wrong > 0 && b->wrong == 0;
	return 0;
}

static int
measure(struct bench *b, struct job *j, int library, double *median)
{
	const char *what = library ? "library" : "exact";
	double bytes = (double)(j->n * sizeof(float));
	int ranks = j->o->comm->size, status;
	struct figure us = { 0 };

	j->library = library;
	figure_free(&j->seconds);
	if ((status = bench_repeat(b, run, j)) != 0)
		return status;
	for (size_t i = 0; i < j->seconds.n; i++)
		figure_add(&us, 1e6 * j->seconds.v[i]);
	*median = figure_median(&us);
	bench_row(b, &us, "us", NULL, "allreduce/%s/%.0f/time", what, bytes);
	bench_rate(b, &j->seconds, allreduce_traffic(bytes, ranks) / 1e9,
	    "GB/s", NULL, "allreduce/%s/%.0f/bus", what, bytes);
	if (!library)
		bench_value(b, (double)exact_traffic(&j->exact, 0, j->n),
		    "bytes", "sent by rank 0", "allreduce/exact/%.0f/sent",
		    bytes);
	figure_free(&us);
	return b->check ? check(b, j, what) : 0;
}

static int
measure_size(struct bench *b, struct job *j)
{
	double exact, library;
	int status;

	exact_open(&j->exact, j->o->comm, sizeof(float), add, NULL, j->n);
	j->count = exact_leaves(&j->exact, j->microbatches, &j->first);
	tree_of(j->microbatches, j->first, j->count, &j->tree);
	for (int k = 0; k < j->tree.n; k++)
		j->tree.part[k].data = xcalloc(j->n, sizeof(float));
	j->result = xcalloc(j->n, sizeof(float));
	status = measure(b, j, 0, &exact);
	if (status == 0 && j->o->comm->t->allreduce != NULL) {
		status = measure(b, j, 1, &library);
		if (status == 0 && j->apart)
			bench_value(b, exact / library, "times", j->note,
			    "allreduce/%zu/ratio", j->n * sizeof(float));
	}
	for (int k = 0; k < j->tree.n; k++)
		free(j->tree.part[k].data);
	free(j->result);
	figure_free(&j->seconds);
	exact_close(&j->exact);
	return status;
}

int
bench_allreduce(struct bench *b, const struct sum_options *o)
{
	struct job j = { .o = o,
		.microbatches = o->microbatches > 0 ? o->microbatches : o->comm->size };
	char bound[80];
	int status = 0;

	if ((j.apart = cores_binding(o->comm, bound, sizeof(bound))) < 0)
		return EXIT_RANKS;
	bench_remark(b, "%d ranks, %d microbatches; %s", o->comm->size,
	    j.microbatches, bound);
	snprintf(j.note, sizeof(j.note), "the exact exchange to the library's; %s",
	    bound);
	/*
	 * Open MPI waits by spinning: its sum is hundreds of times slower once
	 * two ranks take turns on a processor, whatever the exchange.
	 */
	if (o->comm->t->allreduce != NULL && !j.apart)
		bench_remark(b, "no ratio to the library's sum, which waits by "
		    "spinning: ranks need processors of their own for it "
		    "(mpirun --bind-to core)");
	if (o->comm->t->allreduce == NULL)
		bench_remark(b, "%s has no sum of its own to compare with",
		    o->comm->t->name);
	for (size_t bytes = o->min; bytes <= o->max && status == 0;
	    bytes *= (size_t)o->factor) {
		j.n = bytes / sizeof(float) > 0 ? bytes / sizeof(float) : 1;
		status = measure_size(b, &j);
	}
	return status;
}
