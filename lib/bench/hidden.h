#ifndef BENCH_HIDDEN_H
#define BENCH_HIDDEN_H

/*
 * How much of an exchange is hidden behind a computation, when a thread of its
 * own does it.  The computation, on this thread, lasts as long as the exchange
 * alone.
 */

#include "bench/bench.h"
#include "comm/comm.h"

struct hidden {
	struct comm *comm;		/* the exchange's own */
	int (*exchange)(void *arg);	/* 0, or -1 after a message */
	void *arg;
	struct figure share;		/* (compute + exchange - both) / exchange */

	double each;			/* seconds of one unit of computing */
	volatile double kept;
};

/* hidden_run(h, counts): both alone and together; an exit status.  All ranks
 * call it, and each gets what the slowest took. */
int hidden_run(struct hidden *h, int counts);

#endif
