#ifndef TRAIN_REDUCE_REDUCER_H
#define TRAIN_REDUCE_REDUCER_H

/*
 * Methods to sum gradients over ranks, bucket by bucket
 * (train/reduce/bucket.h): exactly (comm/exact.h), by the hosts or the devices,
 * or in any order, by an all-reduce of the hosts (comm/allreduce.h) or of the
 * devices (comm/fabric.h).
 */

#include "backend/backend.h"
#include "comm/allreduce.h"
#include "comm/exact.h"
#include "comm/segments.h"

/*
 * A method to sum.  The communication thread calls begin, the main thread the
 * other functions.
 */
struct reducer {
	/*
	 * begin(r, t, from, n):
	 * Sum elements ${from} to ${from} + ${n} - 1 over ranks.  The data of
	 * this rank's subtrees ${t} begins with element ${from}.  Buckets
	 * arrive in descending order; ${from} is 0 in the last one.  The sum,
	 * or this rank's segment of it, replaces the first subtree.  Return 0,
	 * or -1 after a message.
	 */
	int (*begin)(struct reducer *r, const struct tree *t, size_t from,
	    size_t n);
	/*
	 * wait(r): make later work of the device wait for all sums.
	 * done(r): wait until the sums exist.  Return 0, or -1 after a message.
	 * Both are NULL if begin waits.
	 */
	void (*wait)(struct reducer *r);
	int (*done)(struct reducer *r);
	/*
	 * gather(r, s, data): all-gather the segments ${s} of ${data}, device
	 * memory, after the queued work of the device and before its later
	 * work.  Return 0, or -1 after a message.  NULL: the host does it.
	 */
	int (*gather)(struct reducer *r, const struct segments *s, void *data);
	/* Free the reducer. */
	void (*close)(struct reducer *r);
	int whole_tree;			/* 1: subtrees are those of the step's
					 * tree; 0: of a tree of this rank's
					 * leaves */
	int on_device;			/* 1: begin takes device memory and
					 * queues work on the side stream */
	float *found_inf;		/* see bucket_found_inf */
};

/*
 * reducer_exact(c, d, largest): sum by the fixed tree.
 * reducer_exact_device(c, d, side_stream, fabric, largest): the same tree, on
 * side stream ${side_stream}: lists run by messages of ${fabric} between the
 * devices.
 * reducer_host(c, o): sum by an algorithm of comm/allreduce.c.
 * reducer_device(c, d, side_stream, o): sum by ${o}->fabric on side stream
 * ${side_stream}. Return a reducer for up to ${largest} or ${o}->most elements
 * of ${d} at once, or NULL after a message; its close frees it. ${c} and the
 * devices must outlive it.
 * Collective: all ranks of ${c} call it.
 */
struct reducer *reducer_exact(struct comm *c, struct device *d, size_t largest);
struct reducer *reducer_exact_device(struct comm *c, struct device *d,
    struct device *side_stream, const struct fabric_calls *fabric,
    size_t largest);
struct reducer *reducer_host(struct comm *c, const struct allreduce_options *o);
struct reducer *reducer_device(struct comm *c, struct device *d,
    struct device *side_stream, const struct allreduce_options *o);

#endif
