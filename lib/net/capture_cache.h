#ifndef NET_CAPTURE_CACHE_H
#define NET_CAPTURE_CACHE_H

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

struct capture_key {
	const void *arena, *w, *dw;
	const struct event *final;	/* event that a backward pass records */
	uint64_t feed_key;		/* staging_buffer_key of the feed */
	int backward;
	int weights_changed;		/* of a forward pass (struct task) */
};

struct capture_cache;
/*
 * capture_cache_new(): return an empty cache. The caller frees it by
 * capture_cache_free.
 *
 * capture_cache_free(p, d): free ${p} and its graphs on ${d}. Do nothing if it
 * is NULL.
 */

struct capture_cache *capture_cache_new(void);
void capture_cache_free(struct capture_cache *p, struct device *d);

/*
 * capture_cache_run(p, d, key, peers, run, arg):
 * Execute the pass of ${key}: call run(arg), which submits it to ${d}, or
 * launch its graph.  If it cannot be captured, always call run.  The pass takes
 * sums over ${peers}, whose agree is not NULL; NULL: no sums.  All peers run
 * the same passes in the same order, so a graph is kept only if all captured
 * it.
 */
void capture_cache_run(struct capture_cache *p, struct device *d,
    const struct capture_key *key, const struct peers *peers,
    void (*run)(void *arg), void *arg);

#endif
