#ifndef COMM_WALK_H
#define COMM_WALK_H

/*
 * The lists of all ranks (comm/collective.h), executed in a model: no data, no
 * other process.  It counts messages and bytes, and computes when each rank
 * finishes.  It also verifies that the lists match: each message is received
 * once, by the right rank, with its size.
 */

#include "comm/collective.h"

/*
 * Costs in seconds.  A rank sends and receives one message at a time, and does
 * both at once.  With a latency of 1 and nothing else, times are the longest
 * chains of messages.
 */
struct walk_costs {
	/* From the last byte sent to the last byte received. */
	double (*latency)(void *arg, int from, int to);
	/* How long ${bytes} occupy the sender, and the receiver.  NULL: 0. */
	double (*transfer)(void *arg, int from, int to, size_t bytes);
	/* The addition of ${n} elements.  NULL: 0. */
	double (*add)(void *arg, size_t n);
	void *arg;
};

/* The result of a walk. */
struct walk {
	size_t messages;		/* maximum sent by one rank */
	size_t bytes;			/* maximum sent by one rank */
	size_t all_messages, all_bytes;	/* of all ranks together */
	double end;			/* when the last rank finishes */
};

/*
 * walk_lists(list, ranks, c, start, w):
 * Walk list[r] of each of ${ranks} ranks with the costs ${c}.  Rank r begins at
 * start[r], which becomes the time at which it finishes; NULL: all begin at 0.
 * Return 0, or -1 after a message if the lists do not match.
 */
int walk_lists(const struct collective *list, int ranks,
    const struct walk_costs *c, double *start, struct walk *w);

#endif
