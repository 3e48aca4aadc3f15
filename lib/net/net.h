#ifndef NET_NET_H
#define NET_NET_H

/*
 * A network on a device: a graph, its parameters, and a plan for each
 * microbatch shape in use.  All plans share one arena.  Switching to another
 * shape only switches the plan.
 */

#include <stdint.h>

#include "net/prefetch.h"
#include "net/plan.h"

struct net {
	const struct graph *graph;
	struct device *device;
	void *w;			/* [graph->elements] parameters, on the
					 * device */
	struct plan **plan;
	size_t plans, cap;
	void *arena;
	size_t arena_bytes;
	/* Advice for messages if several clips need too much memory, such as
	 * "a smaller --microbatch, "; or NULL. */
	const char *advice;
	/*
	 * Set before plans are made: 1 if a training step has several
	 * microbatches.
	 */
	int repeats;
	/*
	 * Set before net_forward: 1 if no parameter has changed since the last
	 * call.  net_forward clears it.
	 */
	int weights_unchanged;
	struct prefetch prefetch;	/* open after net_reserve_prefetch */
	const struct plan *bound;	/* last plan that used the arena */
};

/*
 * net_new(g, d):
 * Return a network of graph ${g} on device ${d} with all parameters 0.  The
 * caller owns ${g} and ${d}, which must outlive it.  Return NULL after a
 * message.  The caller frees it by net_free.
 *
 * net_free(n):
 * Free ${n} with its plans.  Do nothing if it is NULL.
 */
struct net *net_new(const struct graph *g, struct device *d);
void net_free(struct net *n);

/*
 * net_init(n, seed):
 * Set the initial values that the .net file defines.  Element i of tensor k is
 * a function of (seed, k, i).
 */
void net_init(struct net *n, uint64_t seed);

/*
 * net_plan(n, input, training):
 * Return the plan for a microbatch whose streams have the shapes
 * ${input}[graph->needs.streams].  Make it on first use, without device memory.
 * ${n} owns it.  Return NULL after a message.
 */
struct plan *net_plan(struct net *n, const struct dims *input, int training);

/*
 * net_plan_part(n, input, peers):
 * Return the training plan for a part of a microbatch; see plan_new_part.
 */
struct plan *net_plan_part(struct net *n, const struct dims *input,
    const struct peers *peers);

/*
 * net_reserve(n):
 * Allocate an arena for the largest plan made so far.  Return 0, or -1 after a
 * message.
 */
int net_reserve(struct net *n);

/*
 * net_reserve_prefetch(n):
 * Allocate the prefetch buffer (net/prefetch.h) for the largest plan made so
 * far. Do nothing if the device works on host memory. Return 0, or -1 after a
 * message.
 *
 * net_prefetch_bytes(n):
 * Return the bytes of that buffer.
 */
int net_reserve_prefetch(struct net *n);
size_t net_prefetch_bytes(const struct net *n);

/*
 * net_forward(n, p, feed, dw):
 * Run the forward pass of plan ${p} of this network.  ${dw} is a device buffer
 * of graph->elements elements that receives gradients, and the batch statistics
 * at once.  It is NULL unless ${p} is for training.
 */
void net_forward(struct net *n, struct plan *p, const struct feed *feed,
    void *dw);

/*
 * net_scores(p, scores):
 * Copy the scores of the first head after a forward pass, before the softmax,
 * to ${scores}, [n][classes].
 */
void net_scores(const struct plan *p, double *scores);

#endif
