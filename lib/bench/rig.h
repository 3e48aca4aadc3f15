#ifndef BENCH_RIG_H
#define BENCH_RIG_H

/*
 * The fixture of the network benchmarks: a network on a back end, with a
 * synthetic microbatch to train on.  Pixels, labels and initial weights are the
 * same on every back end.
 */

#include "bench/shape.h"
#include "train/loop/feeder.h"

struct rig {
	struct net *net;
	struct plan *plan;		/* plan for training */
	void *gradient;			/* flat, as the parameters */
	struct feed feed;
	struct microbatch mb;		/* view of ${feed} for the feeder */
	struct feeder feeder;		/* without a loader: of synthetic
					 * clips */
	struct outcome *outcome;	/* on the device */
	struct outcome *fetched;	/* [heads] copy of ${outcome} on the
					 * host */
	int pinned;			/* number of streams whose pixels are in
					 * pinned memory (rig_prefetch) */
};

/*
 * rig_open(r, g, d, s):
 * Create the network ${g} on device ${d} with a microbatch of shape ${s}.
 * Return 0, or -1 after a message.  Call rig_close in both cases.
 */
int rig_open(struct rig *r, const struct graph *g, struct device *d,
    const struct bench_shape *s);

/* rig_close(r): Free the fixture and leave it empty. */
void rig_close(struct rig *r);

/*
 * rig_shape(r, s):
 * Replace the microbatch by one of shape ${s}; keep the parameters.  Return 0,
 * or -1 after a message.
 */
int rig_shape(struct rig *r, const struct bench_shape *s);

/*
 * rig_prefetch(r):
 * Upload the pixels of the following steps from pinned memory while the step
 * before is computed, as training does (train/loop/feeder.h).  Do nothing if
 * the device uses host memory.  Return 0, or -1 after a message.
 */
int rig_prefetch(struct rig *r);

/* rig_upload(r): Upload the pixels once and wait until the device has them. */
void rig_upload(struct rig *r);

/*
 * rig_pass(r):
 * Run the forward and the backward pass on the synthetic microbatch.
 */
void rig_pass(struct rig *r);

/*
 * rig_loss(r):
 * Wait for the device, and return the loss of the last forward pass whose
 * outcomes went to r->outcome.
 */
double rig_loss(struct rig *r);

#endif
