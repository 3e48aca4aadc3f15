#ifndef TRAIN_LOOP_FEEDER_H
#define TRAIN_LOOP_FEEDER_H

/*
 * A feeder passes the microbatches of a loader through a network, one at a
 * time:
 *
 *	feeder_begin(f, outcome, scale);
 *	while (more) {
 *		feeder_next(f);
 *		feeder_forward(f, dw);
 *		feeder_backward(f, final);
 *		feeder_done(f);
 *	}
 *
 * A discrete device computes on one microbatch while the pixels of the next
 * one are uploaded (net/prefetch.h), from pinned memory that the loader writes
 * to. The feeder implements that protocol: when pixels are uploaded, when their
 * memory goes back to the loader, and which passes reuse the packed weights.
 */

#include <stdatomic.h>

#include "comm/watch.h"
#include "data/loader.h"
#include "net/net.h"
#include "train/loop/cells.h"

struct feeder {
	/* Set by the caller. */
	struct net *net;
	struct plan *plan;		/* for every microbatch; NULL: by
					 * cell */
	const struct planned_cells *cells;
	struct watch *watch;		/* of waits for the loader; NULL:
					 * none */
	struct microbatch *own;		/* the input while no loader is open */
	uint64_t seed;			/* of dropout; feeder_open sets it */

	/* Results. */
	struct microbatch *mb;		/* the current one; NULL: none */
	double waited;			/* seconds spent waiting for clips */

	struct loader *loader;		/* NULL: not open */

	/* Private. */
	struct feed feed;		/* of the current microbatch */
	struct outcome *outcome;	/* of the next pass; NULL: not wanted */
	double scale;			/* of the loss; 0: 1 */
	int passes;			/* since feeder_begin */
	_Atomic(uint64_t) clip;		/* the first of the microbatch */
	_Atomic(int64_t) sample;	/* its sample; -1: no microbatch */
	atomic_int loading;		/* feeder_next waits for the loader */
};

/*
 * feeder_open(f, d, s, from, o), feeder_open_views(f, d, first, count, o):
 * Open the loader, as loader_new and loader_views do.  If ${f}->net has a
 * prefetch buffer, pixels lie in pinned memory.
 * The net and its plans must outlive the feeder.
 */
void feeder_open(struct feeder *f, const struct dataset *d,
    const struct schedule *s, uint64_t from, const struct loader_options *o);
void feeder_open_views(struct feeder *f, const struct dataset *d,
    uint32_t first, uint32_t count, const struct view_options *o);

/* feeder_close(f): wait for the last upload and free the loader.  Do nothing
 * if the feeder is not open. */
void feeder_close(struct feeder *f);

/*
 * feeder_begin(f, outcome, scale):
 * Begin a series of passes with the same weights, which the first pass packs.
 * If ${outcome} is not NULL, write the outcomes of pass i to
 * ${outcome} + i * graph->heads, in device memory.  Multiply losses by
 * ${scale}, or by 1 if it is 0.  After feeder_open, the state is that of
 * feeder_begin(f, NULL, 0).
 */
void feeder_begin(struct feeder *f, struct outcome *outcome, double scale);

/*
 * feeder_next(f):
 * Wait for the next microbatch, and set ${f}->mb to it.  Without a loader, set
 * it to ${f}->own.  Return 0, or after a message EXIT_DAMAGE if data are
 * damaged and EXIT_FAILED otherwise.  The end of the loader is an error.
 */
int feeder_next(struct feeder *f);

/*
 * feeder_forward(f, dw): run the forward pass of the current microbatch, as
 * net_forward(n, p, feed, dw).
 * feeder_backward(f, final): run its backward pass, as plan_backward.
 */
void feeder_forward(struct feeder *f, void *dw);
void feeder_backward(struct feeder *f, struct event *final);

/*
 * feeder_prefetch(f):
 * Start the upload of the next microbatch if it is loaded.  feeder_done does
 * so, too.  Call it after a forward pass whose results are read before
 * feeder_done.
 */
void feeder_prefetch(struct feeder *f);

/* feeder_done(f): return the current microbatch, if there is one, to the loader
 * and start the upload of the next one. */
void feeder_done(struct feeder *f);

/*
 * feeder_at(f, clip, sample):
 * Set ${*clip} and ${*sample} to the clip that feeder_next waits for, or to the
 * first clip of the current microbatch.  Return 1, or 0 if there is neither.
 * Any thread may call it.
 */
int feeder_at(struct feeder *f, uint64_t *clip, uint32_t *sample);

#endif
