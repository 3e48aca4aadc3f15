#ifndef CMD_OPTIONS_BENCH_H
#define CMD_OPTIONS_BENCH_H

/* Options of vt-bench for sums over ranks and for predictions. */

#include "bench/cases.h"
#include "draw/plot.h"

/* The defaults of struct bench_sums. */
#define BENCH_SUMS_DEFAULTS { .min = 4 << 10, .max = 64 << 20, .factor = 4, \
	.timeout = 600 }

/* The rows of a struct bench_sums ${o}. */
#define OPTION_ALLREDUCE(o) \
	{ 0, "min", OPTION_SIZE, &(o).min, "BYTES", \
	    "set the smallest vector (%)", \
	    NULL, 4, 1e12, BENCH_ALLREDUCE }, \
	{ 0, "max", OPTION_SIZE, &(o).max, "BYTES", \
	    "set the largest vector (%)", \
	    NULL, 4, 1e12, BENCH_ALLREDUCE }, \
	{ 0, "factor", OPTION_INT, &(o).factor, "N", \
	    "multiply each size by N for the next (%)", \
	    NULL, 2, 1024, BENCH_ALLREDUCE }, \
	{ 0, "vectors", OPTION_INT, &(o).vectors, "N", \
	    "sum N vectors (%: one for each rank)", \
	    NULL, 0, 1e6, BENCH_ALLREDUCE }, \
	{ 0, "algorithm", OPTION_LIST, &(o).algorithms, "NAME", \
	    "use exact, native, ring, torus, ...", \
	    "exact|native|ring|torus|halving", 0, 0, \
	    OPTION_COMMON | BENCH_SUMS }, \
	{ 0, "comm-dtype", OPTION_CHOICE, &(o).comm_dtype, "TYPE", \
	    "send fp32, bf16 or fp16 (%)", \
	    "fp32|bf16|fp16", 0, 0, BENCH_SUMS }, \
	{ 0, "overlap", OPTION_FLAG, &(o).overlap, NULL, \
	    "time its overlap with computation, too", \
	    NULL, 0, 0, BENCH_ALLREDUCE }, \
	{ 0, "tune", OPTION_TEXT, &(o).tune, "FILE", \
	    "write the fastest choices for vt-train", \
	    "#ranks\thosts\texchange\t", 0, 0, \
	    OPTION_OUTPUT | BENCH_ALLREDUCE }, \
	{ 0, "step-timeout", OPTION_TIME, &(o).timeout, "TIME", \
	    "limit waits for ranks; 0: off (%)", \
	    NULL, 0, 1e9, BENCH_ALLREDUCE | BENCH_LINKS }

/* bench_check_sums(o, ranks): end the program after a message if the
 * options contradict each other, or if ${ranks} are too many. */
void bench_check_sums(const struct bench_sums *o, int ranks);

/* Options that bench_set_predict applies. */
struct bench_predict_options { const char *ranks; int64_t ranks_per_host; };

/* The rows of a struct bench_predict_options ${o} and a struct bench_inputs
 * ${in}. */
#define OPTION_PREDICT(o, in) \
	{ 0, "rate", OPTION_REAL, &(in).rate, "CLIPS", \
	    "assume this rate; 0: measure (%)", \
	    NULL, 0, 1e9, BENCH_PROFILE }, \
	{ 0, "profile", OPTION_LIST, &(in).predict.profiles, "FILE", \
	    "read a table that vt-bench profile printed", \
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT | BENCH_PREDICT }, \
	{ 0, "links", OPTION_TEXT, &(in).predict.links, "CLUSTER", \
	    "choose a cluster, or a table of vt-bench links", \
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT | BENCH_PREDICT }, \
	{ 0, "set", OPTION_LIST, &(in).predict.settings, "NAME=X", \
	    "set a property; may be repeated", \
	    NULL, 0, 0, BENCH_PREDICT }, \
	{ 0, "samples", OPTION_INT, &(in).predict.samples, "N", \
	    "set the samples of an epoch", \
	    NULL, 0, 1e12, BENCH_PREDICT }, \
	{ 0, "hosts", OPTION_INT, &(in).predict.hosts, "N", \
	    "set the hosts (--links)", \
	    NULL, 0, 1 << 20, BENCH_PREDICT }, \
	{ 0, "ranks-per-host", OPTION_INT, &(o).ranks_per_host, "N", \
	    "set ranks of a host (0: --links)", \
	    NULL, 0, 1e6, BENCH_PREDICT }, \
	{ 0, "ranks", OPTION_TEXT, &(o).ranks, "LIST", \
	    "use these numbers of ranks (--hosts)", \
	    NULL, 0, 0, BENCH_PREDICT }, \
	{ 0, "base-ranks", OPTION_INT, &(in).predict.base, "N", \
	    "compare with N ranks (%)", \
	    NULL, 1, 65536, BENCH_PREDICT }, \
	{ 0, "price", OPTION_REAL, &(in).predict.price, "X", \
	    "set the price of a rank and hour", \
	    NULL, 0, 1e9, BENCH_CLUSTER }, \
	{ 0, "plot", OPTION_TEXT, &(in).predict.plot, "FILE", \
	    "draw efficiency and time: .png, .svg, .pdf", \
	    PLOT_BEGINS, 0, 0, OPTION_OUTPUT | BENCH_CLUSTER }

/*
 * bench_set_predict(o, in, test):
 * Set in->predict for ${test}, BENCH_CLUSTER or BENCH_GUIDELINES.
 * End the program after a message if an option is wrong, absent or without
 * effect.
 */
void bench_set_predict(const struct bench_predict_options *o,
    struct bench_inputs *in, unsigned test);

#endif
