#ifndef CMD_OPTIONS_PREDICT_H
#define CMD_OPTIONS_PREDICT_H

/* Options of vt-bench profile, cluster, guidelines and count; vt-bench(1) explains them. */

#include <stdint.h>

#include "base/options.h"
#include "bench/predict.h"
#include "draw/plot.h"

#include "bench.h"

struct bench_predict_options {
	double rate, price;
	const char *links, *ranks, *plot;
	struct option_list profiles, settings;
	int64_t hosts, ranks_per_host, samples, base_ranks;
};

/* The defaults. */
#define PREDICT_OPTIONS { .ranks = "8,64,512,1536,4096", .ranks_per_host = 8, \
	.base_ranks = 1 }

/* The rows of a struct bench_predict_options ${o}. */
#define OPTION_PREDICT(o) \
	{ 0, "rate", OPTION_REAL, &(o).rate, "CLIPS", \
	    "assume this rate; 0: measure (%)", \
	    NULL, 0, 1e9, BENCH_PROFILE }, \
	{ 0, "profile", OPTION_LIST, &(o).profiles, "FILE", \
	    "read a table that vt-bench profile printed", \
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT | BENCH_PREDICT }, \
	{ 0, "links", OPTION_TEXT, &(o).links, "CLUSTER", \
	    "choose a cluster, or a table of vt-bench links", \
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT | BENCH_PREDICT }, \
	{ 0, "set", OPTION_LIST, &(o).settings, "NAME=X", \
	    "set a property; may be repeated", \
	    NULL, 0, 0, BENCH_PREDICT }, \
	{ 0, "samples", OPTION_INT, &(o).samples, "N", \
	    "set the samples of an epoch", \
	    NULL, 0, 1e12, BENCH_PREDICT }, \
	{ 0, "hosts", OPTION_INT, &(o).hosts, "N", \
	    "set the hosts (--links)", \
	    NULL, 0, 1 << 20, BENCH_PREDICT }, \
	{ 0, "ranks-per-host", OPTION_INT, &(o).ranks_per_host, "N", \
	    "set ranks of a host (%)", \
	    NULL, 1, 1e6, BENCH_PREDICT | BENCH_COUNT }, \
	{ 0, "ranks", OPTION_TEXT, &(o).ranks, "LIST", \
	    "use these numbers of ranks (%)", \
	    NULL, 0, 0, BENCH_PREDICT | BENCH_COUNT }, \
	{ 0, "base-ranks", OPTION_INT, &(o).base_ranks, "N", \
	    "compare with N ranks (%)", \
	    NULL, 1, 65536, BENCH_PREDICT }, \
	{ 0, "price", OPTION_REAL, &(o).price, "X", \
	    "set the price of a rank and hour", \
	    NULL, 0, 1e9, BENCH_CLUSTER }, \
	{ 0, "plot", OPTION_TEXT, &(o).plot, "FILE", \
	    "draw efficiency and time: .png, .svg, .pdf", \
	    PLOT_BEGINS, 0, 0, OPTION_OUTPUT | BENCH_CLUSTER }

/*
 * predict_ranks(o, count):
 * Parse --ranks into ${count}[PREDICT_COUNTS].  Return their number, or end the
 * program after a message.
 */
int predict_ranks(const struct bench_predict_options *o, int *count);

/*
 * predict_algorithms_check(algorithms, grids): end the program after a message
 * unless the lists of messages of all are known.  ${grids} is 1 if torus:XxY is.
 *
 * predict_options_check(o, algorithms, schedule, guidelines): end the program
 * after a message if an option of cluster, or of guidelines if ${guidelines} is
 * 1, is absent or has no effect.  ${schedule} is 1 if there is a schedule.
 *
 * predict_options_set(o, algorithms, count): return ${o} in the form of
 * bench_predict, without links, schedule and shapes.  The result refers to the
 * arguments, ${count}[PREDICT_COUNTS].
 */
void predict_algorithms_check(const struct option_list *algorithms,
    int grids);
void predict_options_check(const struct bench_predict_options *o,
    const struct option_list *algorithms, int schedule, int guidelines);
struct predict_options predict_options_set(
    const struct bench_predict_options *o,
    const struct option_list *algorithms, int *count);

#endif
