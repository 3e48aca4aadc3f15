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

#include "base/options.h"
#include "bench/step_lists.h"
#include "bench/step_profile.h"

/*
 * Properties of a cluster: name, minimum, maximum and default; vt-bench(1)
 * explains them.  Those of links in a host and between hosts have the same
 * order.  CLUSTER_UNKNOWN is the default of those that a table must have.
 */
#define CLUSTER_UNKNOWN (-1)
#define CLUSTER_ROWS(ROW) \
	ROW(HOST_LATENCY, "links/host/latency", 0, 1e3, CLUSTER_UNKNOWN) \
	ROW(HOST_BANDWIDTH, "links/host/bandwidth", 1, 1e18, CLUSTER_UNKNOWN) \
	ROW(HOST_TOTAL, "links/host/total", 0, 1e18, 0) \
	ROW(HOST_SHORT, "links/host/short-latency", 0, 1e3, CLUSTER_UNKNOWN) \
	ROW(NETWORK_LATENCY, "links/network/latency", 0, 1e3, CLUSTER_UNKNOWN) \
	ROW(NETWORK_BANDWIDTH, "links/network/bandwidth", 1, 1e18, \
	    CLUSTER_UNKNOWN) \
	ROW(NETWORK_TOTAL, "links/network/total", 0, 1e18, 0) \
	ROW(NETWORK_SHORT, "links/network/short-latency", 0, 1e3, \
	    CLUSTER_UNKNOWN) \
	ROW(ADD, "links/add", 0, 1e18, 0) \
	ROW(HOSTS, "cluster/hosts", 1, 1 << 20, 1) \
	ROW(RANKS_PER_HOST, "cluster/ranks-per-host", 1, 1024, 1) \
	ROW(CORES, "cluster/cores", 0, 1 << 20, 0) \
	ROW(BUCKET, "cluster/bucket", 4, 1e12, 4 << 20) \
	ROW(CYCLE, "cluster/cycle", 0, 1e3, 0) \
	ROW(JITTER, "cluster/jitter", 0, 100, 0) \
	ROW(SKEW, "cluster/skew", 0, 100, 0) \
	ROW(START, "cluster/start", 0, 1e9, 0) \
	ROW(MTBF, "cluster/mtbf", 0, 1e12, 0) \
	ROW(CHECKPOINT, "cluster/checkpoint", 0, 1e9, 0) \
	ROW(INTERVAL, "cluster/interval", 0, 1e9, 0) \
	ROW(RESTART, "cluster/restart", 0, 1e9, 0)

#define CLUSTER_PROPERTY(property, ...) property,
enum cluster_property { CLUSTER_ROWS(CLUSTER_PROPERTY) CLUSTER_PROPERTIES };

struct cluster { double v[CLUSTER_PROPERTIES]; };

/*
 * cluster_read(c, path, hosts, ranks_per_host, settings):
 * Set ${c} to the defaults, then to the rows links/... and cluster/... of a
 * table with the columns name and median, to ${hosts} and ${ranks_per_host}
 * unless they are 0, and to each "NAME=VALUE" of ${settings}.  Ignore other
 * rows.  Return 0, or -1 after a message, also if a property is unknown of
 * links that the cluster has.
 */
int cluster_read(struct cluster *c, const char *path, int64_t hosts,
    int64_t ranks_per_host, const struct option_list *settings);

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

/* Their names, "compute" and so on. */
extern const char *const cluster_part_names[CLUSTER_PARTS];

/*
 * cluster_delay(c, cell, ranks, u, skew):
 * Return the time of the slowest of ${ranks} ranks, divided by the median time
 * of a step.  ${u}, from 0 to 1, is the quantile of the slowest rank; ${skew}
 * is the one of the constant differences of ranks.
 *
 * cluster_loader(c, cell, s):
 * Return the clips per second that a rank loads; 0: no limit.
 *
 * cluster_step(c, cell, s, seconds, delay, part):
 * Write the parts of a step to part[CLUSTER_PARTS].  ${seconds} are those of
 * cluster_exchanges(c, s), and ${delay} is that of cluster_delay.
 */
double cluster_delay(const struct cluster *c, const struct step_cell *cell,
    int ranks, double u, double skew);
double cluster_loader(const struct cluster *c, const struct step_cell *cell,
    const struct step_lists *s);
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
