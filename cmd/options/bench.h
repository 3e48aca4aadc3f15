#ifndef CMD_OPTIONS_BENCH_H
#define CMD_OPTIONS_BENCH_H

/* The tests of vt-bench, which are the modes of its options. */

#include "base/options.h"

#define BENCH_TESTS "decode|loader|op|step|profile|allreduce|links|count|" \
	"cluster|guidelines"

/* In the order of BENCH_TESTS. */
#define BENCH_DECODE	OPTION_MODE(0)
#define BENCH_LOADER	OPTION_MODE(1)
#define BENCH_OP	OPTION_MODE(2)
#define BENCH_STEP	OPTION_MODE(3)
#define BENCH_PROFILE	OPTION_MODE(4)
#define BENCH_ALLREDUCE	OPTION_MODE(5)
#define BENCH_LINKS	OPTION_MODE(6)
#define BENCH_COUNT	OPTION_MODE(7)
#define BENCH_CLUSTER	OPTION_MODE(8)
#define BENCH_GUIDELINES OPTION_MODE(9)
#define BENCH_NETWORK	(BENCH_OP | BENCH_STEP | BENCH_PROFILE)
#define BENCH_PREDICT	(BENCH_CLUSTER | BENCH_GUIDELINES)
#define BENCH_SUMS	(BENCH_ALLREDUCE | BENCH_COUNT | BENCH_PREDICT)

#endif
