#ifndef NET_PASSES_H
#define NET_PASSES_H

/*
 * The cache of captured CUDA graphs of a plan (device_capture).  A step has
 * hundreds of kernels, and some take only a few microseconds.  Submitting these
 * one by one may take longer than executing them.
 *
 * A graph key identifies a pass.  The first pass with a key is submitted kernel
 * by kernel, the second is captured, and every later one is a graph launch.
 */

#include "backend/backend.h"
/* The graph key: all arguments that captured work depends on. */

struct pass_key {
	const void *arena, *w, *dw;
	const struct event *final;	/* event that a backward pass records */
	uint64_t form;			/* tray_form of the feed */
	int backward;
	int renew;			/* task.renew, in a forward pass */
};

struct passes;
/*
 * passes_new(): return an empty cache.  The caller frees it by passes_free.
 *
 * passes_free(p, d): free ${p} and its graphs on ${d}.  Do nothing if it is
 * NULL.
 */

struct passes *passes_new(void);
void passes_free(struct passes *p, struct device *d);

/*
 * passes_run(p, d, key, run, arg):
 * Execute the pass of ${key}: call run(arg), which submits it to ${d}, or
 * launch its graph.  If it cannot be captured, always call run.
 */
void passes_run(struct passes *p, struct device *d, const struct pass_key *key,
    void (*run)(void *arg), void *arg);

#endif
