/* The prediction of steps: closed forms, and limits of latency and bandwidth. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "bench/cluster.h"
#include "tap.h"

enum { ELEMENTS = 1 << 20, PART_N = 1 << 18 };

/* Gradients in four equal parts, ready at 1, 2, 3 and 4 s. */
static struct step_gradient gradient[] = { { PART_N, 1 }, { PART_N, 2 },
	{ PART_N, 3 }, { PART_N, 4 } };
static const struct step_cell cell = { .shape = { 8, 8, 224 }, .forward = 2,
	.backward = 4, .update = 0.5, .step = { 6.5, 6.5, 6.5, 6.5 },
	.gradient = gradient, .gradients = 4 };
static struct cluster c;
static struct step_lists s = { .wire = &wires[0], .ranks_per_host = 1,
	.elements = ELEMENTS, .bucket = PART_N };

static int
close_to(double x, double y)
{
	return fabs(x - y) <= 1e-9 * fabs(y) + 1e-12;
}

/* Predict a step of ${ranks} ranks. */
static void
predict(const char *algorithm, int ranks, int microbatches, double delay,
    double *part)
{
	double seconds[CLUSTER_SECONDS];

	s.kind = algorithm_find(algorithm);
	s.ranks = ranks;
	s.microbatches = microbatches;
	if (cluster_exchanges(&c, &s, seconds) != 0)
		exit(1);
	/* Sums only: the other exchanges have tests of their own. */
	for (int p = STEP_LAST_SUM + 1; p < STEP_PARTS; p++)
		seconds[p] = 0;
	cluster_step(&c, &cell, &s, seconds, delay, part);
}

static double
random_unit(void *arg)
{
	unsigned *state = arg;

	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) * 0x1p-24 + 0x1p-25;
}

/* Horovod's cycles, and a second protocol of short messages. */
static void
test_cycles(void)
{
	double part[CLUSTER_PARTS], transfer = 0.4 / 8;

	/* A sum of a part takes 0.7 s, and parts are ready at 3, 4, 5 and 6 s.
	 * Sums begin at 3, 4.2, 5.4 and 6.1 s: 0.5 s after a cycle without any. */
	c.v[NETWORK_LATENCY] = 0;
	c.v[NETWORK_BANDWIDTH] = PART_N * sizeof(float) / 0.4;
	c.v[CYCLE] = 0.5;
	predict("ring", 8, 8, 1, part);
	ok(fabs(part[CLUSTER_COMMUNICATION] - 0.8) < 1e-4,
	    "a cycle sums what is ready");
	c.v[CYCLE] = 10;
	predict("ring", 8, 8, 1, part);
	ok(fabs(part[CLUSTER_COMMUNICATION] - 8.8) < 1e-4,
	    "a long cycle sums all gradients after the backward pass");
	c.v[CYCLE] = 0;

	c.v[NETWORK_LATENCY] = 1e-3;
	c.v[NETWORK_SHORT] = 1e-4;
	predict("ring", 8, 8, 1, part);
	ok(close_to(part[CLUSTER_COMMUNICATION], 14 * (1e-3 + transfer)),
	    "long messages take the protocol of the full bandwidth");
	c.v[NETWORK_BANDWIDTH] *= 1e4;
	predict("ring", 8, 8, 1, part);
	ok(close_to(part[CLUSTER_COMMUNICATION], 14 * (1e-4 + 2e-4 * transfer)),
	    "short messages take that of the lower latency");
	c.v[NETWORK_SHORT] = -1;
}

static void
test_steps(void)
{
	double part[CLUSTER_PARTS], sum;

	predict("ring", 1, 1, 1, part);
	ok(close_to(part[CLUSTER_COMPUTE], 6.5) &&
	    part[CLUSTER_COMMUNICATION] == 0, "one rank computes only");
	predict("exact", 1, 3, 1, part);
	ok(close_to(part[CLUSTER_COMPUTE], 18.5),
	    "three microbatches have three passes and one update");

	/* A ring of P ranks sends 2 (P - 1) messages of 1 / P of a bucket. */
	c.v[NETWORK_LATENCY] = 1e-3;
	c.v[NETWORK_BANDWIDTH] = PART_N * sizeof(float) / 0.4;
	sum = 14 * (1e-3 + 0.4 / 8);
	predict("ring", 8, 8, 1, part);
	ok(close_to(part[CLUSTER_COMMUNICATION], sum),
	    "the sum of the last bucket is not hidden");
	c.v[NETWORK_BANDWIDTH] /= 4;
	sum = 14 * (1e-3 + 1.6 / 8);
	predict("ring", 8, 8, 1, part);
	ok(close_to(part[CLUSTER_COMMUNICATION], 4 * sum - 3),
	    "with slow links, the sums follow one another from the first bucket");
	predict("ring", 8, 8, 2, part);
	ok(close_to(part[CLUSTER_COMMUNICATION], 4 * sum - 6 > sum ?
	    4 * sum - 6 : sum), "a slow rank hides more of the sums");
	ok(close_to(part[CLUSTER_STRAGGLERS], 6.5),
	    "a rank that takes twice as long delays by one step");

	c.v[NETWORK_LATENCY] = 0;
	c.v[NETWORK_BANDWIDTH] = 1e18;
	predict("halving", 64, 64, 1, part);
	ok(part[CLUSTER_COMMUNICATION] < 1e-9,
	    "links without latency and limit cost nothing");
	predict("exact", 64, 64, 1, part);
	ok(close_to(part[CLUSTER_COMPUTE], 6 + 0.5 / 64),
	    "after an exact sum each rank updates its part of the weights");
}

static void
test_sharing(void)
{
	double ring[CLUSTER_PARTS], torus[CLUSTER_PARTS];

	s.ranks_per_host = 4;
	c.v[HOST_LATENCY] = c.v[NETWORK_LATENCY] = 0;
	c.v[HOST_BANDWIDTH] = 1e18;
	c.v[NETWORK_BANDWIDTH] = c.v[NETWORK_TOTAL] = 1e6;
	predict("ring", 16, 16, 1, ring);
	predict("torus", 16, 16, 1, torus);
	/* 2 S 15 / 16 through one link, against 2 S / 4 3 / 4 through a quarter. */
	ok(close_to((torus[CLUSTER_COMMUNICATION] + 3) /
	    (ring[CLUSTER_COMMUNICATION] + 3), 0.8),
	    "the ranks of a host share its link to other hosts");
	s.ranks_per_host = 1;
	c.v[NETWORK_TOTAL] = 0;
}

static void
test_delays(void)
{
	unsigned state = 1;
	double mean = 0, harmonic = 0;

	for (int i = 1; i <= 1536; i++)
		harmonic += 1.0 / i;
	c.v[JITTER] = 0.02;
	for (int i = 0; i < 20000; i++)
		mean += (cluster_delay(&c, &cell, 1536, random_unit(&state),
		    0.5) - 1) / 20000;
	diag("mean delay %g, expected %g", mean, 0.02 * harmonic);
	ok(fabs(mean / (0.02 * harmonic) - 1) < 0.01,
	    "the slowest of P exponential delays is 1 + 1/2 + ... + 1/P of one");
	c.v[JITTER] = 0;
}

static void
test_runs(void)
{
	unsigned state = 1;
	double mean = 0;
	int failures, all = 0;

	c.v[START] = 7;
	ok(cluster_run(&c, 8, 100, random_unit, &state, &failures) == 107 &&
	    failures == 0, "without failures a run takes its work and its start");
	c.v[INTERVAL] = 10;
	c.v[CHECKPOINT] = 1;
	ok(close_to(cluster_run(&c, 8, 100, random_unit, &state, &failures), 117),
	    "each interval has a checkpoint");
	/* 8 hosts that fail once in 8 h: once an hour together. */
	c.v[MTBF] = 8;
	c.v[START] = 0;
	c.v[RESTART] = 60;
	for (int i = 0; i < 2000; i++) {
		mean += cluster_run(&c, 8, 3600, random_unit, &state,
		    &failures) / 2000;
		all += failures;
	}
	/* Each failure loses half of an interval, and a restart. */
	diag("mean run %g s, %g failures", mean, all / 2000.0);
	ok(fabs(mean / (3960 * (1 + 65.5 / 3600)) - 1) < 0.005 &&
	    fabs(all / 2000.0 / 1.1 - 1) < 0.1,
	    "failures cost a restart and half of an interval");
	c.v[MTBF] = 0.001;
	c.v[INTERVAL] = 0;
	ok(isinf(cluster_run(&c, 8, 3600, random_unit, &state, &failures)),
	    "a run without checkpoints on bad hosts never ends");
}

int
main(void)
{
	c.v[HOST_BANDWIDTH] = c.v[NETWORK_BANDWIDTH] = 1e18;
	c.v[RANKS_PER_HOST] = 1;
	c.v[HOST_SHORT] = c.v[NETWORK_SHORT] = -1;
	test_steps();
	test_cycles();
	test_sharing();
	test_delays();
	test_runs();
	return done();
}
