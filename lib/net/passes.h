#ifndef NET_PASSES_H
#define NET_PASSES_H

/*
 * Passes over a plan that a device keeps (device_capture): of a step of hundreds
 * of kernels, some of which take a few microseconds, asking for each may take
 * longer than doing it.
 *
 * A pass is known by all that makes it another one.  The first time that one
 * comes it is asked for piece by piece, the second time it is kept, and from then
 * on it is done again as a whole, for every microbatch.
 */

#include "backend/backend.h"

struct pass_key {
	const void *arena, *w, *dw;
	const struct event *final;	/* what is recorded, by a backward pass */
	uint64_t form;			/* what the feed has (tray_form) */
	int backward;
	int renew;			/* of a forward pass: task.renew */
};

struct passes;

struct passes *passes_new(void);
void passes_free(struct passes *p, struct device *d);

/*
 * passes_run(p, d, key, run, arg): run(arg), which asks ${d} for the pass of
 * ${key}; or the same, kept.
 */
void passes_run(struct passes *p, struct device *d, const struct pass_key *key,
    void (*run)(void *arg), void *arg);

#endif
