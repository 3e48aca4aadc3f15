/* A network to be measured. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "bench/rig.h"
#include "net/feed.h"

#define SEED 1

int
rig_shape(struct rig *r, const struct shape *s)
{
	const struct graph *g = r->net->graph;
	struct dims *input = graph_inputs(g, s->n, s->t, s->side);

	feed_free(&r->feed, &g->needs);
	feed_make(&r->feed, input, &g->needs);
	r->plan = net_plan(r->net, input, 1);
	free(input);
	return r->plan == NULL ? -1 : net_reserve(r->net);
}

int
rig_open(struct rig *r, const struct graph *g, struct device *d,
    const struct shape *s)
{
	size_t bytes = (size_t)g->heads * sizeof(struct outcome);

	*r = (struct rig){ .net = net_new(g, d) };
	if (r->net == NULL || rig_shape(r, s) != 0)
		return -1;
	r->gradient = device_alloc(d, g->elements * d->elem);
	r->outcome = device_alloc(d, bytes);
	if (r->gradient == NULL || r->outcome == NULL)
		return -1;
	r->fetched = xmalloc(bytes);
	net_init(r->net, SEED);
	return 0;
}

void
rig_close(struct rig *r)
{
	if (r->net == NULL)
		return;
	if (r->gradient != NULL)
		device_free(r->net->device, r->gradient);
	if (r->outcome != NULL)
		device_free(r->net->device, r->outcome);
	feed_free(&r->feed, &r->net->graph->needs);
	net_free(r->net);
	free(r->fetched);
	*r = (struct rig){ 0 };
}

void
rig_forward(struct rig *r, struct feed *feed)
{
	feed->outcome = r->outcome;
	net_forward(r->net, r->plan, feed, r->gradient);
}

double
rig_loss(struct rig *r)
{
	const struct graph *g = r->net->graph;
	double sum = 0;

	device_download(r->net->device, r->fetched, r->outcome,
	    (size_t)g->heads * sizeof(*r->fetched));
	for (int i = 0; i < g->heads; i++)
		sum += g->op[g->head[i].loss].weight * r->fetched[i].loss;
	return sum;
}
