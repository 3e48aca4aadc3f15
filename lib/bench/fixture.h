#ifndef BENCH_FIXTURE_H
#define BENCH_FIXTURE_H

/*
 * The fixture of the network benchmarks: a network on a back end, with a
 * synthetic microbatch to train on.  Pixels, labels and initial weights are the
 * same on every back end.
 */

#include "bench/shape.h"
#include "train/loop/feeder.h"
#include "train/optim/optim.h"

#define FIXTURE_RATE 0.001	/* learning rate of steps */

struct fixture {
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
					 * pinned memory (fixture_prefetch) */
	struct optim optim;		/* for steps (fixture_open_optim) */
	struct schedule *schedule;	/* of the loader, or NULL */
};

/*
 * fixture_open(r, g, d, s):
 * Create the network ${g} on device ${d} with a microbatch of shape ${s}.
 * Return 0, or -1 after a message.  Call fixture_close in both cases.
 */
int fixture_open(struct fixture *r, const struct graph *g, struct device *d,
    const struct bench_shape *s);

/*
 * fixture_open_optim(r):
 * Open r->optim, SGD with the groups of TSM.  Return 0, or -1 after a message.
 */
int fixture_open_optim(struct fixture *r);

/* fixture_close(r): Free the fixture and leave it empty. */
void fixture_close(struct fixture *r);

/*
 * fixture_open_loader(r, d, s, threads), fixture_close_loader(r):
 * Let r->feeder take microbatches of shape ${s} from a loader of ${d} with
 * ${threads}.  Return 0, or an exit status after a message.  Close it only
 * after a 0.
 */
int fixture_open_loader(struct fixture *r, const struct dataset *d,
    const struct bench_shape *s, int threads);
void fixture_close_loader(struct fixture *r);

/*
 * fixture_shape(r, s):
 * Replace the microbatch by one of shape ${s}; keep the parameters.  Return 0,
 * or -1 after a message.
 */
int fixture_shape(struct fixture *r, const struct bench_shape *s);

/*
 * fixture_prefetch(r):
 * Upload the pixels of the following steps from pinned memory while the step
 * before is computed, as training does (train/loop/feeder.h).  Do nothing if
 * the device uses host memory.  Return 0, or -1 after a message.
 */
int fixture_prefetch(struct fixture *r);

/*
 * fixture_upload(r): Upload the pixels once and wait until the device has them.
 */
void fixture_upload(struct fixture *r);

/*
 * fixture_pass(r):
 * Run the forward and the backward pass on the synthetic microbatch.
 */
void fixture_pass(struct fixture *r);

/*
 * fixture_loss(r):
 * Wait for the device, and return the loss of the last forward pass whose
 * outcomes went to r->outcome.
 */
double fixture_loss(struct fixture *r);

#endif
