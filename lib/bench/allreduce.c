/*
 * Benchmark all-reduce: the exact sum, which has the same summation tree on any
 * number of ranks; the MPI library's own; and the algorithms that may add in
 * any order.
 *
 * All elements are small integers, so every algorithm gives the same sum and
 * every element can be checked.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/exit.h"
#include "base/file.h"
#include "base/mem.h"
#include "bench/cases.h"
#include "bench/overlap.h"
#include "comm/allreduce.h"
#include "comm/cores.h"
#include "comm/exact.h"
#include "comm/tuning.h"

double
allreduce_traffic(double bytes, int ranks)
{
	return 2 * bytes * (ranks - 1) / ranks;
}

/* A candidate: the exact sum, or a row of the table of algorithms. */
struct bench_allreduce_candidate {
	const char *name;		/* as on the command line */
	const struct algorithm *kind;	/* NULL: exact */
	int columns;
};

struct bench_allreduce_job {
	const struct bench_sums *o;
	const int *host;
	struct comm *comm;		/* communicator that may be used by
					 * another thread */
	struct exact exact;
	struct allreduce free;
	const struct bench_allreduce_candidate *candidate;
	struct tree tree;		/* this rank's subtrees of full
					 * vectors */
	int microbatches, first, count;	/* in all; first and number of this
					 * rank */
	size_t n;			/* elements */
	float *result;
	struct figure seconds;
	struct overlap overlap;
	struct tuning tuning;
	int own_processors;		/* 1: no processor is shared by ranks */
	char note[160];			/* how ranks are bound */
};

/*
 * Element i of a microbatch is one of PERIOD integers from -8 to 8.  PERIOD is
 * large and prime, so that a misplaced chunk is detected.
 */
#define PERIOD 1009

/*
 * Compute the sum of microbatches ${first} to ${end} - 1 for elements 0 to
 * PERIOD - 1.
 */
static void
bench_allreduce_sum_leaves(float v[PERIOD], int first, int end)
{
	for (uint32_t i = 0; i < PERIOD; i++) {
		v[i] = 0;
		for (uint32_t k = (uint32_t)first; k < (uint32_t)end; k++)
			v[i] += (float)((k * 7919 + i * 40503) % 8209 % 17) - 8;
	}
}

static void
bench_allreduce_fill(float *v, size_t n, int first, int end)
{
	float sum[PERIOD];

	bench_allreduce_sum_leaves(sum, first, end);
	for (size_t i = 0; i < n; i++)
		v[i] = sum[i % PERIOD];
}

/*
 * Fill the buffers that a sum overwrites: the subtrees for the exact sum, the
 * result for the others.
 */
static void
bench_allreduce_refill(struct bench_allreduce_job *j)
{
	const struct tree *t = &j->tree;

	if (j->candidate->kind != NULL)
		bench_allreduce_fill(j->result, j->n, j->first,
		    j->first + j->count);
	for (int k = 0; k < t->n && j->candidate->kind == NULL; k++) {
		int first = t->part[k].index << t->part[k].level;
		int end = (t->part[k].index + 1) << t->part[k].level;

		bench_allreduce_fill(t->part[k].data, j->n, first,
		    end < j->microbatches ? end : j->microbatches);
	}
}

static int
bench_allreduce_sum(void *arg)
{
	struct bench_allreduce_job *j = arg;

	return j->candidate->kind == NULL ? exact_allreduce(&j->exact, &j->tree,
	    0, j->n, j->result) : allreduce_run(&j->free, j->result, 0, j->n);
}

/* Time one sum.  Its time is that of the slowest rank. */
static int
bench_allreduce_run(void *arg, int counts)
{
	struct bench_allreduce_job *j = arg;
	struct comm *c = j->comm;
	double start;
	int64_t ns;
	int bad;

	bench_allreduce_refill(j);
	if (comm_barrier(c) != 0)
		return EXIT_RANKS;
	start = clock_seconds();
	bad = bench_allreduce_sum(j);
	ns = (int64_t)(1e9 * (clock_seconds() - start));
	if (bad || comm_max(c, &ns) != 0)
		return EXIT_RANKS;
	if (counts)
		figure_add(&j->seconds, (double)ns / 1e9);
	return 0;
}

static int
bench_allreduce_run_hidden(void *arg, int counts)
{
	struct bench_allreduce_job *j = arg;

	bench_allreduce_refill(j);
	return overlap_run(&j->overlap, counts);
}

/*
 * Return the tolerance of a sum, 8 M x 2 P x 2^-8 for M microbatches on P ranks
 * with a 16-bit communication dtype, otherwise 0.  Elements are at most 8 M,
 * and each of at most 2 P messages rounds them to at least 8 bits.
 */
static double
bench_allreduce_tolerance(const struct bench_allreduce_job *j)
{
	const struct wire *w =
	    &wires[j->o->comm_dtype];

	return j->candidate->kind == NULL || w->elem == 0 ? 0 :
	    8.0 * j->microbatches * 2 * j->comm->size * 0x1p-8;
}

/*
 * Check every element on every rank.  Rank 0 learns if another rank found an
 * error.
 */
static int
bench_allreduce_verify(struct bench *b, struct bench_allreduce_job *j)
{
	float want[PERIOD];
	double tolerance = bench_allreduce_tolerance(j);
	int64_t wrong = 0;
	size_t at = 0;

	bench_allreduce_sum_leaves(want, 0, j->microbatches);
	for (size_t i = 0; i < j->n; i++)
		if (!(fabs((double)j->result[i] - (double)want[i % PERIOD]) <=
		    tolerance))
			at = wrong++ == 0 ? i : at;
	if (wrong > 0)
		bench_wrong(b, "allreduce/%s/%zu: %lld elements of the sum, "
		    "the first at %zu", j->candidate->name,
		    j->n * sizeof(float), (long long)wrong, at);
	if (comm_max(j->comm, &wrong) != 0)
		return EXIT_RANKS;
	/* Another rank's errors count as one. */
	b->wrong += wrong > 0 && b->wrong == 0;
	return 0;
}

/* Store a measurement for the tuning table. */
static void
bench_allreduce_record(struct bench_allreduce_job *j, double us)
{
	struct tuned *r;

	if (j->candidate->kind == NULL || j->candidate->columns > 0)
		return;
	j->tuning.row = xrealloc(j->tuning.row, j->tuning.n + 1, sizeof(*r));
	r = &j->tuning.row[j->tuning.n++];
	*r = (struct tuned){ j->comm->size, grid_hosts(j->host,
		j->comm->size), &wires[j->o->comm_dtype], j->candidate->kind,
		j->n * sizeof(float), us };
}

static int
bench_allreduce_measure(struct bench *b, struct bench_allreduce_job *j,
    double *median)
{
	const char *what = j->candidate->name;
	double bytes = (double)(j->n * sizeof(float));
	int ranks = j->comm->size, status;
	struct figure us = { 0 };

	figure_free(&j->seconds);
	if ((status = bench_repeat(b, bench_allreduce_run, j)) != 0)
		return status;
	for (size_t i = 0; i < j->seconds.n; i++)
		figure_add(&us, 1e6 * j->seconds.v[i]);
	*median = figure_median(&us);
	bench_allreduce_record(j, *median);
	bench_row(b, &us, "us", NULL, "allreduce/%s/%.0f/time", what, bytes);
	bench_rate(b, &j->seconds, allreduce_traffic(bytes, ranks) / 1e9,
	    "GB/s", NULL, "allreduce/%s/%.0f/bus", what, bytes);
	/* The library's own algorithm does not report what it sends. */
	if (!algorithm_is_native(j->candidate->kind))
		bench_value(b, (double)(j->candidate->kind == NULL ?
		    exact_traffic(&j->exact, j->n) :
		    allreduce_sends(&j->free, j->n)), "bytes",
		    "sent by rank 0", "allreduce/%s/%.0f/sent", what, bytes);
	figure_free(&us);
	if (b->check && (status = bench_allreduce_verify(b, j)) != 0)
		return status;
	if (!j->o->overlap)
		return 0;
	j->overlap = (struct overlap){ .comm = j->comm,
	    .exchange = bench_allreduce_sum,
		.arg = j };
	status = bench_repeat(b, bench_allreduce_run_hidden, j);
	if (status == 0)
		bench_row(b, &j->overlap.share, "share", "of the exchange, "
		    "behind a computation as long", "allreduce/%s/%.0f/hidden",
		    what, bytes);
	figure_free(&j->overlap.share);
	return status;
}

static int
bench_allreduce_measure_way(struct bench *b, struct bench_allreduce_job *j,
    double *median)
{
	const struct bench_sums *o = j->o;
	struct allreduce_options free = { .kind = j->candidate->kind,
		.wire = &wires[o->comm_dtype], .columns = j->candidate->columns,
		.host = j->host,
		.elem = sizeof(float), .add = wire_sum, .max = j->n };
	int status;

	if (j->candidate->kind == NULL)
		return bench_allreduce_measure(b, j, median);
	if (allreduce_open(&j->free, j->comm, &free) != 0)
		return EXIT_USAGE;
	status = bench_allreduce_measure(b, j, median);
	allreduce_close(&j->free);
	return status;
}

static int
bench_allreduce_measure_size(struct bench *b, struct bench_allreduce_job *j,
    const struct bench_allreduce_candidate *way, int ways)
{
	double us, exact = 0, native = 0;
	int status = 0;

	exact_open(&j->exact, j->comm, sizeof(float), wire_sum, NULL, j->n);
	j->count = exact_leaves(&j->exact, j->microbatches, &j->first);
	tree_of(j->microbatches, j->first, j->count, &j->tree);
	for (int k = 0; k < j->tree.n; k++)
		j->tree.part[k].data = xcalloc(j->n, sizeof(float));
	j->result = xcalloc(j->n, sizeof(float));
	for (int i = 0; i < ways && status == 0; i++) {
		j->candidate = &way[i];
		status = bench_allreduce_measure_way(b, j, &us);
		if (way[i].kind == NULL)
			exact = us;
		else if (algorithm_is_native(way[i].kind))
			native = us;
	}
	/* Ranks that share a processor would make the ratio meaningless. */
	if (status == 0 && exact > 0 && native > 0 && j->own_processors)
		bench_value(b, exact / native, "times", j->note,
		    "allreduce/%zu/ratio", j->n * sizeof(float));
	for (int k = 0; k < j->tree.n; k++)
		free(j->tree.part[k].data);
	free(j->result);
	figure_free(&j->seconds);
	exact_close(&j->exact);
	return status;
}

/* ---- selection ---- */

int
bench_allreduce_check(const char *name)
{
	int columns, rows;

	return strcmp(name, "exact") == 0 ||
	    algorithm_parse(name, &columns, &rows) != NULL ? 0 : -1;
}

/*
 * List the candidates: those named in the options; otherwise the exact sum and
 * the library's, or all algorithms if a tuning table is wanted.  Return their
 * number.
 */
static int
bench_allreduce_choose(const struct bench_sums *o, struct comm *c,
    struct bench_allreduce_candidate *way)
{
	const struct algorithm *native = algorithm_find("native");
	int n = 0, rows;

	for (size_t i = 0; i < o->algorithms.n; i++, n++) {
		way[n] = (struct bench_allreduce_candidate){
			.name = o->algorithms.item[i] };
		way[n].kind = algorithm_parse(o->algorithms.item[i],
		    &way[n].columns, &rows);
	}
	if (n == 0 && o->tune == NULL)
		way[n++] = (struct bench_allreduce_candidate){ "exact", NULL,
			0 };
	for (const struct algorithm *k = algorithms; o->algorithms.n == 0 &&
	    k->name != NULL; k++)
		if ((k == native || o->tune != NULL) &&
		    algorithm_can(k, c, &wires[o->comm_dtype], sizeof(float)) &&
		    (k != native || c->t->allreduce != NULL))
			way[n++] = (struct bench_allreduce_candidate){ k->name,
			    k, 0 };
	return n;
}

static int
bench_allreduce_write_table(const struct bench_allreduce_job *j)
{
	char *text;
	int bad;

	if (j->o->tune == NULL || j->comm->rank != 0)
		return 0;
	text = tuning_text(&j->tuning);
	bad = commit_text(j->o->tune, text);
	free(text);
	return bad ? EXIT_FAILED : 0;
}

static void
bench_allreduce_say_ranks(struct bench *b, const struct bench_allreduce_job *j,
    const char *bound)
{
	const struct comm *c = j->comm;
	int hosts = grid_hosts(j->host, c->size);

	bench_remark(b, "%d ranks, %d microbatches, %d host%s; %s",
	    c->size, j->microbatches, hosts, hosts > 1 ? "s" : "", bound);
	/*
	 * Open MPI waits by spinning.  Its sum is hundreds of times slower if
	 * two ranks share a processor, so a ratio would be meaningless.
	 */
	if (c->t->allreduce != NULL && !j->own_processors)
		bench_remark(b, "no ratio to the library's sum, which waits by "
		    "spinning: ranks need processors of their own for it "
		    "(mpirun --bind-to core)");
	if (c->t->allreduce == NULL)
		bench_remark(b, "%s has no sum of its own to compare with",
		    c->t->name);
}

static int
bench_allreduce(struct bench *b, const struct bench_inputs *in)
{
	const struct bench_sums *o = &in->sums;
	struct comm *c = in->comm;
	struct bench_allreduce_job j = { .o = o, .comm = c,
		.microbatches = o->vectors > 0 ? (int)o->vectors : c->size };
	struct bench_allreduce_candidate *way =
	    xcalloc(o->algorithms.n + 8, sizeof(*way));
	int *host = xcalloc((size_t)c->size, sizeof(*host));
	int ways = bench_allreduce_choose(o, c, way), status = 0;
	char bound[80];

	j.host = host;
	if ((j.own_processors = cores_binding(c, bound, sizeof(bound))) <
	    0 || cores_hosts(c, host) != 0)
		status = EXIT_RANKS;
	snprintf(j.note, sizeof(j.note), "the exact exchange to the "
	    "library's; %s", bound);
	if (status == 0)
		bench_allreduce_say_ranks(b, &j, bound);
	for (int64_t bytes = o->min; bytes <= o->max && status == 0;
	    bytes *= o->factor) {
		j.n = (size_t)bytes / sizeof(float);
		status = bench_allreduce_measure_size(b, &j, way, ways);
	}
	if (status == 0)
		status = bench_allreduce_write_table(&j);
	tuning_free(&j.tuning);
	free(way);
	free(host);
	return status;
}

const struct bench_case bench_case_allreduce = { .run = bench_allreduce,
	.collective = 1 };
