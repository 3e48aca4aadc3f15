#ifndef BENCH_CLUSTER_H
#define BENCH_CLUSTER_H

/*
 * The time of a training step on a cluster, predicted from the profile of one
 * rank (bench/step_profile.h), the messages that the trainer would send
 * (bench/step_lists.h) and the properties of the cluster.
 *
 * Ranks work in lockstep: the slowest rank delays all.  Buckets of gradients
 * are summed one after another, each when the backward pass of the slowest rank
 * has finished its gradients, and at the earliest after the bucket before.
 * With a cycle, each sum has all gradients that are ready, as in Horovod.
 */

#include "bench/step_lists.h"
#include "bench/step_profile.h"

/* Properties of a cluster; the names are in cluster.c, vt-bench(1) explains
 * them. */
enum cluster_property {
	HOST_LATENCY, HOST_BANDWIDTH, HOST_TOTAL,	/* links in a host */
	HOST_SHORT,
	/* between hosts */
	NETWORK_LATENCY, NETWORK_BANDWIDTH, NETWORK_TOTAL,
	NETWORK_SHORT,
	ADD,				/* bytes added per second; 0: no time */
	HOSTS, RANKS_PER_HOST, CORES, BUCKET, CYCLE,
	JITTER, SKEW,			/* mean delays, as part of the
					 * compute */
	START, MTBF, CHECKPOINT, INTERVAL, RESTART,
	CLUSTER_PROPERTIES
};

struct cluster { double v[CLUSTER_PROPERTIES]; };

/*
 * cluster_read(c, path):
 * Set ${c} to the defaults, and read the rows links/... and cluster/... of a
 * table with the columns name and median.  Ignore other rows.  Return 0, or -1
 * after a message.
 *
 * cluster_set(c, text):
 * Set a property by ${text}, "NAME=VALUE".  Return 0, or -1 after a message.
 *
 * cluster_check(c, path):
 * Return 0 if the properties of the links that ${c} has are known, otherwise -1
 * after a message that names ${path}, the table from which ${c} was read.
 */
int cluster_read(struct cluster *c, const char *path);
int cluster_set(struct cluster *c, const char *text);
int cluster_check(const struct cluster *c, const char *path);

/*
 * The seconds of exchanges: one of each enum step_part, and, with a cycle, sums
 * of s->bucket >> k elements, k from 0 to CLUSTER_SIZES - 1.
 */
enum { CLUSTER_SIZES = 14, CLUSTER_SECONDS = STEP_PARTS + CLUSTER_SIZES };

/*
 * cluster_exchanges(c, s, seconds):
 * Walk the messages of a step and write the seconds of one exchange of each
 * part to seconds[CLUSTER_SECONDS].  Return 0, or -1 after a message if the
 * ranks do not fill the grid of the algorithm.
 */
int cluster_exchanges(const struct cluster *c, const struct step_lists *s,
    double *seconds);

/* The parts of a step, in seconds. */
enum cluster_part {
	CLUSTER_COMPUTE,		/* of a rank without delay */
	CLUSTER_COMMUNICATION,		/* that computation does not hide */
	CLUSTER_STRAGGLERS,		/* waits for the slowest rank */
	CLUSTER_INPUT,			/* waits for the loader */
	CLUSTER_PARTS
};

/*
 * cluster_part_name(part): return "compute" and so on.
 *
 * cluster_delay(c, cell, ranks, u, skew):
 * Return the time of the slowest of ${ranks} ranks, divided by the median time
 * of a step.  ${u}, from 0 to 1, is the quantile of the slowest rank; ${skew}
 * is the one of the constant differences of ranks.
 *
 * cluster_step(c, cell, s, seconds, delay, part):
 * Write the parts of a step to part[CLUSTER_PARTS].  ${seconds} are those of
 * cluster_exchanges(c, s), and ${delay} is that of cluster_delay.
 */
const char *cluster_part_name(enum cluster_part part);
double cluster_delay(const struct cluster *c, const struct step_cell *cell,
    int ranks, double u, double skew);
void cluster_step(const struct cluster *c, const struct step_cell *cell,
    const struct step_lists *s, const double *seconds, double delay,
    double *part);

/*
 * cluster_run(c, ranks, work, draw, arg, failures):
 * Return the seconds of a run that computes for ${work} seconds, with its
 * start, checkpoints, failures, lost work and restarts.  ${draw}(arg) returns
 * uniform numbers from 0 to 1.  Set ${*failures}.  Return infinity if the run
 * does not end within 10,000 failures.
 */
double cluster_run(const struct cluster *c, int ranks, double work,
    double (*draw)(void *arg), void *arg, int *failures);

#endif
