/*
 * Measure the links between ranks, and fit latency and bandwidth.
 *
 * A ping-pong between two ranks gives what one message takes: t = latency +
 * bytes / bandwidth.  Exchanges of all ranks of a host at once, in both
 * directions, give what the host can send in all.
 */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/mem.h"
#include "bench/cases.h"
#include "comm/cores.h"
#include "comm/wire.h"

static const size_t sizes[] = { 8, 256, 4 << 10, 32 << 10, 256 << 10, 1 << 20,
	4 << 20 };
enum {
	SIZES = sizeof(sizes) / sizeof(sizes[0]),
	LARGEST = 4 << 20,
	AT_ONCE = 64			/* round trips that are timed together,
					 * of small messages */
};

static const char *const links[] = { "host", "network" };

struct links_job {
	struct bench *b;
	struct comm *comm;
	const int *host;
	int network;			/* 1: between hosts */
	int partner;			/* of this rank; -1: none */
	int leader;			/* 1: this rank takes part in
					 * ping-pong */
	int active;			/* ranks of the first host that
					 * exchange */
	char *out, *in;
	size_t bytes;
	int exchange;			/* 1: both directions at once */
	struct figure seconds;		/* of one message */
};

/* Return the rank number ${index} on the host of ${of}, or -1. */
static int
links_rank(const struct links_job *j, int of, int index)
{
	for (int r = 0; r < j->comm->size; r++)
		if (j->host[r] == j->host[of] && index-- == 0)
			return r;
	return -1;
}

/* Return the first rank that is not on the host of rank 0, or -1. */
static int
links_second_host(const struct links_job *j)
{
	for (int r = 0; r < j->comm->size; r++)
		if (j->host[r] != j->host[0])
			return r;
	return -1;
}

/* Return the ranks that exchange over this link, on one host. */
static int
links_pair(struct links_job *j)
{
	int second = links_second_host(j), me = j->comm->rank, n = 0;

	j->partner = -1;
	j->leader = 0;
	if (j->network && second < 0)
		return 0;
	for (int i = 0;; i++) {
		int a = links_rank(j, 0, j->network ? i : 2 * i);
		int b = j->network ? links_rank(j, second, i) :
		    links_rank(j, 0, 2 * i + 1);

		if (a < 0 || b < 0)
			return j->network ? n : 2 * n;
		if (me == a || me == b) {
			j->partner = me == a ? b : a;
			j->leader = i == 0;
		}
		n++;
	}
}

/* Send one message each way: one after the other, or both at once. */
static int
links_round(struct links_job *j)
{
	struct message out = { j->partner, j->out, j->bytes };
	struct message in = { j->partner, j->in, j->bytes };
	struct comm *c = j->comm;

	if (j->exchange)
		return comm_exchange(c, &out, 1, &in, 1);
	if (c->rank < j->partner)
		return comm_exchange(c, &out, 1, NULL, 0) != 0 ? -1 :
		    comm_exchange(c, NULL, 0, &in, 1);
	return comm_exchange(c, NULL, 0, &in, 1) != 0 ? -1 :
	    comm_exchange(c, &out, 1, NULL, 0);
}

static int
links_run(void *arg, int counts)
{
	struct links_job *j = arg;
	int bad = comm_barrier(j->comm), rounds = j->bytes < LARGEST / 64 ?
	    AT_ONCE : 1;
	int takes_part = j->partner >= 0 && (j->exchange || j->leader);
	double start = clock_seconds(), seconds;
	int64_t ns = 0;

	for (int i = 0; i < rounds && takes_part && !bad; i++)
		bad = links_round(j);
	seconds = (clock_seconds() - start) / rounds / (j->exchange ? 1 : 2);
	if (takes_part)
		ns = (int64_t)(1e9 * seconds);
	if (bad || comm_max(j->comm, &ns) != 0)
		return EXIT_RANKS;
	if (counts)
		figure_add(&j->seconds, (double)ns / 1e9);
	return 0;
}

/*
 * Fit t = latency + bytes / bandwidth: the latency is the time of the smallest
 * message, and the slope is that of the two largest.  A fit to all sizes gives
 * three times the bandwidth behind a token bucket, whose burst passes messages
 * of up to 256 KiB at full speed.  Return the largest relative error.
 */
static double
links_fit(const double *t, double *latency, double *bandwidth)
{
	double slope = (t[SIZES - 1] - t[SIZES - 2]) /
	    (double)(sizes[SIZES - 1] - sizes[SIZES - 2]), worst = 0;

	/* On a busy machine the times may not grow with the size. */
	if (!(slope > 0))
		slope = t[SIZES - 1] / LARGEST;
	*latency = t[0];
	*bandwidth = 1 / slope;
	for (int i = 0; i < SIZES; i++) {
		double error =
		    fabs(*latency + slope * (double)sizes[i] - t[i]) / t[i];

		worst = error > worst ? error : worst;
	}
	return worst;
}

/*
 * Measure messages of ${bytes}; set ${*least} to the seconds of the fastest
 * run, which other processes disturbed least.
 */
static int
links_measure(struct links_job *j, size_t bytes, int exchange, double *least)
{
	int status;

	j->bytes = bytes;
	j->exchange = exchange;
	figure_free(&j->seconds);
	if ((status = bench_repeat(j->b, links_run, j)) != 0)
		return status;
	/* The clock counts nanoseconds; a time of 0 has no relative error. */
	*least = fmax(figure_min(&j->seconds), 1e-9);
	if (j->b->verbose)
		bench_remark(j->b, "%s, %zu bytes, %s: %g s", links[j->network],
		    bytes, exchange ? "all at once" : "one message", *least);
	return 0;
}

/* Print the rows of one link, unless it is absent. */
static int
links_print(struct links_job *j)
{
	const char *name = links[j->network];
	double t[SIZES], all, latency, bandwidth, error;
	char note[80];
	int status = 0;

	if ((j->active = links_pair(j)) == 0) {
		bench_remark(j->b, "%s: no two ranks", j->network ?
		    "between hosts" : "in the first host");
		return 0;
	}
	for (int i = 0; i < SIZES && status == 0; i++)
		status = links_measure(j, sizes[i], 0, &t[i]);
	if (status != 0 || (status = links_measure(j, LARGEST, 1, &all)) != 0)
		return status;
	error = links_fit(t, &latency, &bandwidth);
	snprintf(note, sizeof(note), "largest error of the fit: %.0f %%",
	    100 * error);
	bench_value(j->b, latency, "s", note, "links/%s/latency", name);
	bench_value(j->b, bandwidth, "bytes/s", NULL, "links/%s/bandwidth",
	    name);
	snprintf(note, sizeof(note), "%d ranks send and receive at once",
	    j->active);
	bench_value(j->b, j->active * (double)LARGEST / all, "bytes/s", note,
	    "links/%s/total", name);
	return 0;
}

/* Print the rate of additions. */
static int
links_print_add(struct links_job *j)
{
	size_t n = LARGEST / sizeof(float);
	float *sum = xcalloc(n, sizeof(*sum)), *x = xcalloc(n, sizeof(*x));
	struct figure seconds = { 0 };

	for (int i = 0; i < j->b->warmup + j->b->runs; i++) {
		double start = clock_seconds();

		wire_sum(NULL, sum, x, n);
		if (i >= j->b->warmup)
			figure_add(&seconds, clock_seconds() - start);
	}
	bench_rate(j->b, &seconds, LARGEST, "bytes/s", "added by rank 0",
	    "links/add");
	figure_free(&seconds);
	free(sum);
	free(x);
	return comm_barrier(j->comm) != 0 ? EXIT_RANKS : 0;
}

static int
links_measure_all(struct bench *b, const struct bench_inputs *in)
{
	struct comm *c = in->comm;
	int *host = xcalloc((size_t)c->size, sizeof(*host));
	struct links_job j = { .b = b, .comm = c, .host = host,
		.out = xcalloc(LARGEST, 1), .in = xcalloc(LARGEST, 1) };
	int status = cores_hosts(c, host) != 0 ? EXIT_RANKS : 0;

	for (j.network = 0; j.network < 2 && status == 0; j.network++)
		status = links_print(&j);
	if (status == 0)
		status = links_print_add(&j);
	figure_free(&j.seconds);
	free(j.out);
	free(j.in);
	free(host);
	return status;
}

const struct bench_case bench_case_links = { .run = links_measure_all,
	.collective = 1 };
