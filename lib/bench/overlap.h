#ifndef BENCH_OVERLAP_H
#define BENCH_OVERLAP_H

/*
 * Overlap: the share of a collective's time that is hidden behind a computation
 * when a second thread runs the collective.  The computation, on the calling
 * thread, lasts as long as the collective alone.
 */

#include "bench/bench.h"
#include "comm/comm.h"

struct overlap {
	struct comm *comm;		/* used by the collective only */
	int (*exchange)(void *arg);	/* the collective: 0, or -1 after a
					 * message */
	void *arg;
	struct figure share;		/* (compute + exchange - both) /
					 * exchange */

	double each;			/* seconds per unit of computing */
	volatile double kept;		/* keeps the compiler from removing the
					 * work */
};

/*
 * overlap_run(h, counts):
 * Run the collective alone, the computation alone, and both together.  If
 * ${counts} is set, add the share to h->share, by the times of the slowest
 * rank.  Return 0, or EXIT_RANKS after a message.  Collective: all ranks call
 * it.
 */
int overlap_run(struct overlap *h, int counts);

#endif
