#ifndef CMD_OPTIONS_ALLREDUCE_H
#define CMD_OPTIONS_ALLREDUCE_H

/* Options of vt-bench allreduce; vt-bench(1) explains them. */

#include "bench/cases.h"

/* The defaults. */
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

/* allreduce_options_check(o, ranks): end the program after a message if the
 * options contradict each other, or if ${ranks} are too many. */
void allreduce_options_check(const struct bench_sums *o, int ranks);

#endif
