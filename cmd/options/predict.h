#ifndef CMD_OPTIONS_PREDICT_H
#define CMD_OPTIONS_PREDICT_H

/* Options of vt-bench profile, cluster, guidelines and count. */

#include <stdint.h>

#include "bench/cases.h"
#include "draw/plot.h"

/* Options that predict_options_set applies. */
struct bench_predict_options { const char *ranks; int64_t ranks_per_host; };

/* The defaults. */
#define PREDICT_OPTIONS { .ranks = "8,64,512,1536,4096", .ranks_per_host = 8 }

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
	    "set ranks of a host (%)", \
	    NULL, 1, 1e6, BENCH_PREDICT | BENCH_COUNT }, \
	{ 0, "ranks", OPTION_TEXT, &(o).ranks, "LIST", \
	    "use these numbers of ranks (%)", \
	    NULL, 0, 0, BENCH_PREDICT | BENCH_COUNT }, \
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
 * predict_options_set(o, in, test):
 * Set in->predict for ${test}, BENCH_CLUSTER, BENCH_GUIDELINES or BENCH_COUNT.
 * End the program after a message if an option is wrong, absent or without
 * effect.
 */
void predict_options_set(const struct bench_predict_options *o,
    struct bench_inputs *in, unsigned test);

#endif
