#ifndef BENCH_CASES_H
#define BENCH_CASES_H

/*
 * The cases of vt-bench.  To add one, write a file that defines
 * bench_case_NAME, and add NAME to the list below.  Options of its own are
 * members of struct bench_inputs and rows of cmd/vt-bench.c.
 */

#include "base/options.h"
#include "bench/bench.h"
#include "bench/predict.h"
#include "bench/shape.h"
#include "comm/comm.h"
#include "comm/wire.h"
#include "shard/dataset.h"
#include "train/loop/views.h"

/* The names, the modes of an option (base/options.h).  The first is FIRST. */
#define BENCH_CASES(FIRST, NEXT) \
	FIRST(decode, DECODE) NEXT(loader, LOADER) NEXT(op, OP) \
	NEXT(step, STEP) NEXT(profile, PROFILE) NEXT(allreduce, ALLREDUCE) \
	NEXT(links, LINKS) NEXT(cluster, CLUSTER) \
	NEXT(guidelines, GUIDELINES)

/* BENCH_NAMES: "decode|loader|..."; BENCH_DECODE, BENCH_LOADER, ...: bits of
 * option_row.flags. */
#define BENCH_NAME_FIRST(name, NAME) #name
#define BENCH_NAME_NEXT(name, NAME) "|" #name
#define BENCH_NAMES BENCH_CASES(BENCH_NAME_FIRST, BENCH_NAME_NEXT)
#define BENCH_NUMBER(name, NAME) BENCH_NUMBER_##NAME,
#define BENCH_BIT(name, NAME) BENCH_##NAME = OPTION_MODE(BENCH_NUMBER_##NAME),
enum { BENCH_CASES(BENCH_NUMBER, BENCH_NUMBER) BENCH_NUMBERS };
enum { BENCH_CASES(BENCH_BIT, BENCH_BIT)
	BENCH_NETWORK = BENCH_OP | BENCH_STEP | BENCH_PROFILE,
	BENCH_PREDICT = BENCH_CLUSTER | BENCH_GUIDELINES,
	BENCH_SUMS = BENCH_ALLREDUCE | BENCH_PREDICT };

/* The options of sums over ranks. */
struct bench_sums {
	int64_t min, max;		/* bytes of the smallest and largest
					 * vector */
	int64_t factor;			/* ratio of consecutive sizes */
	int64_t vectors;		/* of the exact sum; 0: one per rank */
	struct option_list algorithms;	/* "exact" or names; none: exact and
					 * the library's own */
	int comm_dtype;			/* of the algorithms: index of wires */
	int overlap;			/* 1: also measure overlap
					 * (bench/overlap.h) */
	const char *tune;		/* path of a tuning table to write;
					 * NULL: none */
	double timeout;			/* seconds; as comm_open */
};

/* The options of vt-bench, and the inputs that they name. */
struct bench_inputs {
	const char *data_path, *schedule_path;	/* NULL: none */
	struct dataset *data;
	struct schedule *schedule;
	struct shape_list shapes;
	struct graph *graph;
	struct device *device;
	struct comm *comm;
	char **file;			/* operands: paths of videos */
	int files;

	int64_t images;			/* frames that a run decodes */
	int64_t short_side;		/* of stored videos, in pixels */
	const char *sheet;		/* path of a contact sheet of clips */
	struct clip_settings clips;	/* of the loader */
	int kinds, convs;		/* of steps: profile
					 * (bench/profile.h) */
	double rate;			/* clips per second of a profile; 0:
					 * measure */
	struct bench_sums sums;
	struct predict_options predict;
};

/* When to read the network; with the device, always. */
enum bench_graph { BENCH_NO_GRAPH, BENCH_GRAPH_GIVEN, BENCH_GRAPH };

struct bench_case {
	/*
	 * Print the rows and, if b->check is set, check the results.  Return 0,
	 * or an exit status after a message.  A wrong result is counted by
	 * bench_wrong and is not an exit status.
	 */
	int (*run)(struct bench *b, const struct bench_inputs *in);
	/* End the program after a message if options contradict each other;
	 * NULL: no checks.  Nothing is open yet but the shapes. */
	void (*check)(const struct bench_inputs *in);
	const char *shapes;		/* defaults of --shape, or NULL */
	enum bench_graph graph;
	int device;			/* 1: open a device */
	int files;			/* 1: operands follow the name */
	int collective;			/* 1: run on all ranks */
};

#define BENCH_DECLARE(name, NAME) \
	extern const struct bench_case bench_case_##name;
BENCH_CASES(BENCH_DECLARE, BENCH_DECLARE)

/*
 * bench_pictures(b, in):
 * Measure JPEG decoding of whole frames of the packed set, and of training
 * crops for each side.
 *
 * bench_cells(b, in):
 * Measure steps on the microbatches of a schedule, and compare them with their
 * nominal cost.
 *
 * Both return as the run of a case.
 */
int bench_pictures(struct bench *b, const struct bench_inputs *in);
int bench_cells(struct bench *b, const struct bench_inputs *in);

/*
 * bench_sheet(d, s, o, path):
 * Draw the first clips of schedule ${s} as a contact sheet.
 */
int bench_sheet(const struct dataset *d, const struct schedule *s,
    const struct loader_options *o, const char *path);

/*
 * bench_allreduce_check(name):
 * Return 0 if ${name} is "exact" or a known algorithm, otherwise -1 without a
 * message.
 */
int bench_allreduce_check(const char *name);

/*
 * allreduce_traffic(bytes, ranks):
 * Return the bytes that each rank must send at least, 2 b (P - 1) / P for
 * vectors of b bytes on P ranks.  Half of it is the reduce-scatter, half the
 * all-gather.  Divided by the time it is the bus bandwidth, which is comparable
 * to the bandwidth of the links for any P.
 * Source: nccl-tests, doc/PERFORMANCE.md.
 */
double allreduce_traffic(double bytes, int ranks);

#endif
