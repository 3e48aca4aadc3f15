#ifndef TRAIN_REDUCE_REDUCER_H
#define TRAIN_REDUCE_REDUCER_H

/*
 * A method to sum gradients over ranks, bucket by bucket
 * (train/reduce/bucket.h): exactly (comm/exact.h), by the hosts or the devices,
 * or in any order, by an all-reduce of the hosts (comm/allreduce.h) or of the
 * devices (comm/fabric.h).
 */

#include "backend/backend.h"
#include "comm/allreduce.h"
#include "comm/exact.h"
#include "comm/fabric.h"
#include "comm/segments.h"

/*
 * A device that executes lists (comm/collective.h) in the order of its stream,
 * and the library by which it sends.  reducer_on_device takes it as ${arg}.
 */
struct reducer_link {
	struct device *device;
	struct fabric *fabric;
};

extern const struct collective_device reducer_on_device;

struct reducer {
	int whole_tree;			/* 1: exact, subtrees are those of the
					 * step's tree; 0: of a tree of this
					 * rank's leaves */
	int on_device;			/* 1: reducer_begin takes device memory
					 * and queues work on the side stream */
	float *found_inf;		/* see bucket_found_inf */
	struct device *device;

	struct exact exact;		/* if exact */
	struct allreduce sum;		/* if the hosts sum in any order */

	/* The others only if the devices sum. */
	struct reducer_link link;	/* on the side stream */
	struct event *summed;		/* the side stream has summed all
					 * buckets, or gathered */
	struct event *updated;		/* the device has updated its weights;
					 * NULL: not exact */
	int type;			/* dtype of messages */
	double ranks;			/* divisor of gradients */
	void *buffer;			/* 16-bit copy in device memory; NULL:
					 * fp32 */
};

/*
 * reducer_open(c, d, side_stream, largest, free, fabric):
 * Prepare to sum up to ${largest} elements of ${d} at once.  ${free} is as in
 * bucket_open.  The devices sum by ${fabric}, on the side stream
 * ${side_stream}; if it is NULL, the hosts do.  ${c} and the devices must
 * outlive the result, which reducer_close frees.  Return NULL after a message.
 * Collective: all ranks of ${c} call it.
 */
struct reducer *reducer_open(struct comm *c, struct device *d,
    struct device *side_stream, size_t largest,
    const struct allreduce_options *free, const struct fabric_calls *fabric);
void reducer_close(struct reducer *r);

/*
 * reducer_begin(r, t, from, n):
 * Sum elements ${from} to ${from} + ${n} - 1 over ranks.  The data of this
 * rank's subtrees ${t} begins with element ${from}.  Buckets arrive in
 * descending order; ${from} is 0 in the last one.  The sum, or this rank's
 * segment of it, replaces the first subtree.  Return 0, or -1 after a message.
 * The communication thread calls it, the main thread the other functions.
 *
 * reducer_wait(r): make later work of the device wait for all sums.
 * reducer_done(r): wait until the sums exist.  Return 0, or -1 after a message.
 */
int reducer_begin(struct reducer *r, const struct tree *t, size_t from,
    size_t n);
void reducer_wait(struct reducer *r);
int reducer_done(struct reducer *r);

/*
 * reducer_gather(r, s, data): all-gather the segments ${s} of ${data}, device
 * memory, after the queued work of the device and before its later work.
 * Return 0, or -1 after a message.  Only if r->updated is not NULL.
 */
int reducer_gather(struct reducer *r, const struct segments *s, void *data);

#endif
