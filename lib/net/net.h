#ifndef NET_NET_H
#define NET_NET_H

/*
 * A network at work: a graph on a back end, its parameters, and a plan for
 * each shape that is wanted, all sharing one arena.  Changing shape is
 * changing a pointer.
 */

#include <stdint.h>

#include "net/ahead.h"
#include "net/plan.h"

struct net {
	const struct graph *graph;
	struct device *device;
	void *w;			/* parameters, graph->elements of them */
	struct plan **plan;
	size_t plans, cap;
	void *arena;
	size_t arena_bytes;
	int repeats;			/* set before plans are made: a step of
					 * training has several microbatches */
	int same;			/* set before net_forward: no parameter
					 * has changed since the last one */
	size_t landing;			/* set before net_reserve_ahead: bytes that
					 * what is sent ahead may take, if more
					 * than pixels */
	struct ahead ahead;		/* open if it was asked for */
	const struct plan *bound;	/* what the arena was used by last */
};

/*
 * net_new(g, d): parameters are allocated and zero.  ${g} and ${d} stay the
 * caller's and must outlive the net.  NULL after a message.
 */
struct net *net_new(const struct graph *g, struct device *d);
void net_free(struct net *n);

/*
 * net_init(n, seed): the initial values that the .net file asks for; element
 * i of tensor k is a function of (seed, k, i).
 */
void net_init(struct net *n, uint64_t seed);

/*
 * net_plan(n, input, training): the plan for a microbatch whose streams have
 * these shapes, [graph->needs.streams], made on first use.  Touches no device
 * memory.  NULL after a message.
 */
struct plan *net_plan(struct net *n, const struct dims *input, int training);

/* net_plan_part(n, input, peers): for training on a part of a microbatch, see
 * plan_new_part. */
struct plan *net_plan_part(struct net *n, const struct dims *input,
    const struct peers *peers);

/* net_reserve(n): memory for the largest plan made so far. */
int net_reserve(struct net *n);

/* net_reserve_ahead(n): what pixels land in that are sent before their pass
 * (net/ahead.h), for the largest plan made so far; nothing, where the device works
 * on the host's memory.  net_ahead_bytes(n): of that. */
int net_reserve_ahead(struct net *n);
size_t net_ahead_bytes(const struct net *n);

/*
 * net_forward(n, p, feed, dw): run a plan of this net.  A training plan writes
 * gradients (and at once the batch statistics) into ${dw}, a buffer of the
 * back end's with graph->elements elements; otherwise it is NULL.
 */
void net_forward(struct net *n, struct plan *p, const struct feed *feed,
    void *dw);

/* net_scores(p, scores): what the last forward pass gave at the first head,
 * before the softmax: [n][classes]. */
void net_scores(const struct plan *p, double *scores);

#endif
