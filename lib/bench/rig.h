#ifndef BENCH_RIG_H
#define BENCH_RIG_H

/*
 * A network on a back end with a microbatch of made-up clips to train on: the
 * same pixels, labels and initial weights on every back end.
 */

#include "bench/shape.h"
#include "net/net.h"

struct rig {
	struct net *net;
	struct plan *plan;		/* of training */
	void *gradient;			/* flat, as the parameters */
	struct feed feed;
	struct outcome *outcome;	/* of the device */
	struct outcome *fetched;	/* [heads] */
	int pinned;			/* streams whose pixels are in pinned
					 * memory (rig_prefetch) */
	uint64_t load;			/* number of the next upload */
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
 * computed, as training does (net/ahead.h).  Do nothing if the device uses host
 * memory.  Return 0, or -1 after a message.
 *
 * rig_send(r):
 * Start the upload for the next pass.  Call it once per pass, before that pass.
 *
 * rig_upload(r):
 * Upload the pixels once and wait until the device has them.
 */
int rig_prefetch(struct rig *r);
void rig_send(struct rig *r);
void rig_upload(struct rig *r);

/*
 * rig_forward(r, feed): forward on ${feed}.  rig_loss(r): the loss of the
 * microbatch that it went over, which waits for the device.
 */
void rig_forward(struct rig *r, struct feed *feed);
double rig_loss(struct rig *r);

#endif
