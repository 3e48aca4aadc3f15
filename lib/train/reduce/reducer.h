#ifndef TRAIN_REDUCE_REDUCER_H
#define TRAIN_REDUCE_REDUCER_H

/*
 * Ways to sum gradients over ranks, bucket by bucket (train/reduce/bucket.h):
 * exactly (comm/exact.h), by an all-reduce of the hosts (comm/allreduce.h), or by
 * the devices (comm/fabric.h).
 */

#include "backend/backend.h"
#include "comm/allreduce.h"
#include "comm/exact.h"

struct reducer {
	/*
	 * begin(r, t, from, n):
	 * Sum elements ${from} to ${from} + ${n} - 1 over ranks; the subtrees
	 * ${t} of this rank begin with the first of them.  Buckets come from the
	 * last to the one with ${from} 0.  The sum, or this rank's segment of
	 * it, replaces the first subtree.  Return 0, or -1 after a message.
	 */
	int (*begin)(struct reducer *r, const struct tree *t, size_t from,
	    size_t n);
	/* wait(r): later work of the device sees all sums.
	 * done(r): wait until they are there.  Return 0, or -1 after a
	 * message.
	 * NULL: begin has done both. */
	void (*wait)(struct reducer *r);
	int (*done)(struct reducer *r);
	void (*close)(struct reducer *r);
	int whole_tree;			/* subtrees are those of the step's tree;
					 * 0: of a tree of this rank's own */
	int on_device;			/* begin takes device memory, and works
					 * in the order of the aside */
	float *lost;			/* see bucket_lost */
};

/*
 * reducer_exact(c, d, most): by the fixed tree.
 * reducer_host(c, o): by an algorithm of comm/allreduce.c.
 * reducer_device(c, d, aside, o): by ${o}->fabric, in the order of ${aside}.
 * Sum up to ${most} elements of ${d} at once.  Collective: all ranks of ${c}, which
 * must outlive the reducer, call it.  NULL after a message.
 */
struct reducer *reducer_exact(struct comm *c, struct device *d, size_t most);
struct reducer *reducer_host(struct comm *c, const struct allreduce_options *o);
struct reducer *reducer_device(struct comm *c, struct device *d,
    struct device *aside, const struct allreduce_options *o);

#endif
