/* A network on a device: parameters, plans by shape, one arena. */
#include <stdlib.h>
#include <string.h>

#include "backend/algorithm_cache.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "net/net.h"

struct net *
net_new(const struct graph *g, struct device *d)
{
	struct net *n = xcalloc(1, sizeof(*n));

	n->graph = g;
	n->device = d;
	n->w = device_alloc(d, g->elements * d->elem);
	if (n->w == NULL) {
		free(n);
		return NULL;
	}
	return n;
}

void
net_free(struct net *n)
{
	if (n == NULL)
		return;
	for (size_t i = 0; i < n->plans; i++)
		plan_free(n->plan[i]);
	free(n->plan);
	prefetch_close(&n->prefetch);
	device_free(n->device, n->arena);
	device_free(n->device, n->w);
	free(n);
}

void
net_init(struct net *n, uint64_t seed)
{
	double *host = NULL;
	uint32_t number = 0;		/* of the tensor */
	size_t cap = 0;

	for (int k = 0; k < n->graph->nparam; k++) {
		const struct param *p = &n->graph->param[k];

		/* graph_between must not change the initial weights. */
		number += k > 0 && p->kind != PARAM_BETWEEN;
		if (p->count > cap) {
			cap = p->count;
			host = xrealloc(host, cap, sizeof(*host));
		}
		for (size_t i = 0; i < p->count; i++)
			host[i] = p->std > 0 ? p->std *
			    rng_normal(seed, number, (uint32_t)i) : p->fill;
		device_put(n->device,
		    (char *)n->w + p->offset * n->device->elem, host, p->count);
	}
	free(host);
}

/* Return the plan of these arguments, or make it. */
static struct plan *
net_plan_of(struct net *n, const struct dims *input, int training,
    const struct peers *peers)
{
	struct plan *p;

	/* A run has few plans, one for each shape of its schedule. */
	for (size_t i = 0; i < n->plans; i++) {
		p = n->plan[i];
		if (memcmp(p->input, input, (size_t)n->graph->needs.streams *
		    sizeof(*input)) == 0 &&
		    p->training == training && p->peers == peers)
			return p;
	}
	if ((p = plan_new_part(n->graph, n->device, input, !training ?
	    PLAN_TEST : n->repeats ? PLAN_REPEAT : PLAN_ONCE, peers)) == NULL)
		return NULL;
	n->plan = array_reserve(n->plan, n->plans, &n->cap, sizeof(*n->plan));
	n->plan[n->plans++] = p;
	p->prefetch = &n->prefetch;
	algorithm_cache_save(n->device);
	return p;
}

struct plan *
net_plan(struct net *n, const struct dims *input, int training)
{
	return net_plan_of(n, input, training, NULL);
}

struct plan *
net_plan_part(struct net *n, const struct dims *input,
    const struct peers *peers)
{
	return net_plan_of(n, input, 1, peers);
}

size_t
net_prefetch_bytes(const struct net *n)
{
	size_t largest = 0;

	for (size_t i = 0; i < n->plans; i++)
		if (staging_buffer_prefetch_bytes(n->plan[i]->staging) >
		    largest)
			largest =
			    staging_buffer_prefetch_bytes(n->plan[i]->staging);
	return largest;
}

int
net_reserve(struct net *n)
{
	size_t largest = 0;
	char text[32];
	int clips = 1;

	for (size_t i = 0; i < n->plans; i++)
		if (n->plan[i]->arena > largest) {
			largest = n->plan[i]->arena;
			clips = n->plan[i]->input->n;
		}
	if (largest <= n->arena_bytes)
		return 0;
	/* Free it first: memory may not suffice for both. */
	device_free(n->device, n->arena);
	n->arena_bytes = 0;
	n->bound = NULL;
	if ((n->arena = device_alloc(n->device, largest)) == NULL)
		return fail("%s: the activations of a microbatch need %s: "
		    "choose %sfewer frames or a smaller crop", n->graph->name,
		    text_bytes(text, (double)largest),
		    clips > 1 && n->advice != NULL ? n->advice : "");
	n->arena_bytes = largest;
	return 0;
}

int
net_reserve_prefetch(struct net *n)
{
	size_t largest = net_prefetch_bytes(n);

	prefetch_close(&n->prefetch);
	return largest > 0 ? prefetch_open(&n->prefetch, n->device, largest) :
	    0;
}

void
net_forward(struct net *n, struct plan *p, const struct feed *feed, void *dw)
{
	plan_bind(p, n->arena, n->w, dw);
	/*
	 * Packed weights are in the arena, which another plan may have
	 * overwritten.
	 */
	p->weights_changed = !n->weights_unchanged || n->bound != p;
	n->weights_unchanged = 0;
	n->bound = p;
	plan_forward(p, feed);
}

void
net_scores(const struct plan *p, double *scores)
{
	const struct task *t = &p->task[p->graph->head[0].scores];

	device_read(p->device, scores, &t->out, t->y);
}
