/*
 * The fixture of the network benchmarks: a network and a synthetic microbatch.
 */
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "bench/fixture.h"
#include "net/feed.h"

#define SEED 1
#define MEMORY ((size_t)512 << 20)	/* of a loader */

/* Free the pixels in pinned memory after the last upload has read them. */
static void
fixture_unpin(struct fixture *r)
{
	struct stream *s = (struct stream *)r->feed.stream;

	if (r->pinned > 0)
		prefetch_drop(&r->net->prefetch);
	for (; r->pinned > 0; r->pinned--) {
		device_free_host(r->net->device, s[r->pinned - 1].bytes);
		s[r->pinned - 1].bytes = NULL;
	}
}

int
fixture_prefetch(struct fixture *r)
{
	struct net *n = r->net;
	struct stream *s = (struct stream *)r->feed.stream;

	if (net_reserve_prefetch(n) != 0)
		return -1;
	for (int i = 0; i < n->graph->needs.streams &&
	    n->prefetch.buffer != NULL; i++) {
		size_t bytes = dims_count(&r->plan->input[i]);
		uint8_t *pinned = device_alloc_host(n->device, bytes);

		if (pinned == NULL)
			return -1;
		memcpy(pinned, s[i].bytes, bytes);
		free(s[i].bytes);
		s[i].bytes = pinned;
		r->pinned = i + 1;
	}
	return 0;
}

void
fixture_upload(struct fixture *r)
{
	r->mb.load++;
	feeder_prefetch(&r->feeder);
	prefetch_wait(&r->net->prefetch);
}

int
fixture_shape(struct fixture *r, const struct bench_shape *s)
{
	const struct graph *g = r->net->graph;
	struct dims *input = graph_inputs(g, s->n, s->t, s->side);

	fixture_unpin(r);
	feed_free(&r->feed, &g->needs);
	feed_make(&r->feed, input, &g->needs);
	r->mb = (struct microbatch){ .n = s->n,
		.stream = (struct stream *)r->feed.stream,
		.target = (struct target *)r->feed.target,
		.clip = (uint64_t *)r->feed.clip };
	r->plan = net_plan(r->net, input, 1);
	r->feeder = (struct feeder){ .net = r->net, .plan = r->plan,
		.own = &r->mb, .seed = r->feed.seed };
	free(input);
	return r->plan == NULL ? -1 : net_reserve(r->net);
}

int
fixture_open(struct fixture *r, const struct graph *g, struct device *d,
    const struct bench_shape *s)
{
	size_t bytes = (size_t)g->heads * sizeof(struct outcome);

	*r = (struct fixture){ .net = net_new(g, d) };
	if (r->net == NULL)
		return -1;
	r->net->advice = "fewer clips, ";
	if (fixture_shape(r, s) != 0)
		return -1;
	r->gradient = device_alloc(d, g->elements * d->elem);
	r->outcome = device_alloc(d, bytes);
	if (r->gradient == NULL || r->outcome == NULL)
		return -1;
	r->fetched = xmalloc(bytes);
	net_init(r->net, SEED);
	return 0;
}

int
fixture_open_optim(struct fixture *r)
{
	r->optim.rule = group_rule_find("tsm");
	r->optim.set.momentum = 0.9;
	r->optim.set.decay = 1e-4;
	return optim_open(&r->optim, r->net, NULL);
}

int
fixture_open_loader(struct fixture *r, const struct dataset *d,
    const struct bench_shape *s, int threads)
{
	struct loader_options o = { .seed = 1, .threads = threads, .ranks = 1,
		.sampler = SAMPLER_TSM, .crop = crop_defaults,
		.memory = MEMORY, .needs = &r->net->graph->needs };
	struct cell cell = shape_cell(s);

	if ((r->schedule = shape_schedule(&cell, 1)) == NULL)
		return EXIT_USAGE;
	if (net_reserve_prefetch(r->net) != 0) {
		schedule_free(r->schedule);
		return EXIT_FAILED;
	}
	feeder_open(&r->feeder, d, r->schedule, 0, &o);
	return 0;
}

void
fixture_close_loader(struct fixture *r)
{
	feeder_close(&r->feeder);
	schedule_free(r->schedule);
}

void
fixture_close(struct fixture *r)
{
	if (r->net == NULL)
		return;
	optim_close(&r->optim);
	if (r->gradient != NULL)
		device_free(r->net->device, r->gradient);
	if (r->outcome != NULL)
		device_free(r->net->device, r->outcome);
	fixture_unpin(r);
	feed_free(&r->feed, &r->net->graph->needs);
	net_free(r->net);
	free(r->fetched);
	*r = (struct fixture){ 0 };
}

void
fixture_pass(struct fixture *r)
{
	feeder_begin(&r->feeder, r->outcome, 0);
	feeder_next(&r->feeder);
	feeder_forward(&r->feeder, r->gradient);
	feeder_backward(&r->feeder, NULL);
	feeder_done(&r->feeder);
}

double
fixture_loss(struct fixture *r)
{
	const struct graph *g = r->net->graph;
	double sum = 0;

	device_download(r->net->device, r->fetched, r->outcome,
	    (size_t)g->heads * sizeof(*r->fetched));
	for (int i = 0; i < g->heads; i++)
		sum += g->op[g->head[i].loss].loss.weight * r->fetched[i].loss;
	return sum;
}
