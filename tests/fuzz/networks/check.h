#ifndef TESTS_FUZZ_NETWORKS_CHECK_H
#define TESTS_FUZZ_NETWORKS_CHECK_H

/* Checks of one network on one back end, precision and instruction set. */

#include "backend/backend.h"
#include "fuzz/networks/random_net.h"

/* The kinds of faults. */
enum check_fault {
	CHECK_NOTHING,
	CHECK_CRASH,			/* the process ended */
	CHECK_REFUSAL,			/* refused by the number of threads */
	CHECK_TASK,			/* a task differs from ref */
	CHECK_WHOLE,			/* the network differs from ref64 */
	CHECK_THREADS,			/* bits depend on the threads */
	CHECK_RECOMPUTE,		/* bits depend on recomputation */
	CHECK_TEST,			/* scores without training differ */
	CHECK_MICROBATCH,		/* they depend on the microbatch */
	CHECK_KINDS
};

extern const char *const check_names[CHECK_KINDS];

enum check_state {
	CHECK_DIED,			/* not ended: a crash */
	CHECK_ABSENT,			/* no such device here */
	CHECK_INVALID,			/* not a network, or too large */
	CHECK_REFUSED,			/* by all numbers of threads */
	CHECK_FINE,
	CHECK_FOUND
};

struct check {
	/* Set by the caller. */
	int gpu;			/* 1: cuda on the stand-in, 0: cpu */
	enum precision precision;
	const char *isa;		/* VT_ISA; "": all that there is */
	/* The result. */
	enum check_state state;
	enum check_fault kind;
	int vague;			/* 1: ill-conditioned, so that the whole
					 * network is not compared */
	double worst;			/* of all differences, in tolerances */
	char where[96], text[400];
};

/*
 * check_net(n, c):
 * Check ${n} and write the result to ${c}.  The process is used for one call
 * only: the instruction set is chosen once.
 */
void check_net(const struct random_net *n, struct check *c);

#endif
