#ifndef BENCH_RIG_H
#define BENCH_RIG_H

/*
 * A network on a back end with a microbatch of made-up clips to train on: the
 * same pixels, labels and initial weights on every back end.
 */

#include "bench/shape.h"
#include "train/loop/feeder.h"

struct rig {
	struct net *net;
	struct plan *plan;		/* of training */
	void *gradient;			/* flat, as the parameters */
	struct feed feed;
	struct microbatch mb;		/* the same, for the feeder */
	struct feeder feeder;		/* without a loader: of made-up clips */
	struct outcome *outcome;	/* of the device */
	struct outcome *fetched;	/* [heads] */
	int pinned;			/* streams whose pixels are in pinned
					 * memory (rig_prefetch) */
};

/* rig_open(r, g, b, s): -1 after a message; rig_close in any case. */
int rig_open(struct rig *r, const struct graph *g, struct device *d,
    const struct bench_shape *s);
void rig_close(struct rig *r);

/*
 * rig_shape(r, s): go on with a microbatch of shape ${s}, with the same
 * parameters; -1 after a message.
 */
int rig_shape(struct rig *r, const struct bench_shape *s);

/*
 * rig_prefetch(r):
 * From now on, upload pixels from pinned memory while the step before is
 * computed, as training does (train/loop/feeder.h).  Do nothing if the device
 * uses host memory.  Return 0, or -1 after a message.
 *
 * rig_upload(r):
 * Upload the pixels once and wait until the device has them.
 */
int rig_prefetch(struct rig *r);
void rig_upload(struct rig *r);

/*
 * rig_pass(r): run the forward and the backward pass on the made-up clips.
 * rig_loss(r): wait for the device and return the loss of the last forward pass
 * whose outcomes went to r->outcome.
 */
void rig_pass(struct rig *r);
double rig_loss(struct rig *r);

#endif
