/* A network to be measured. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"
#include "bench/rig.h"

#define SEED 1

static uint8_t *
draw_pixels(size_t n)
{
	uint8_t *p = xmalloc(n + 16);

	for (size_t i = 0; i < n; i += 16) {
		struct rng_block b = rng_philox(SEED, (uint32_t)(i / 16), 0, 0,
		    RNG_CLIP);

		memcpy(p + i, b.w, 16);
	}
	return p;
}

static void
make_feed(struct feed *f, const struct dims *input, const struct needs *needs)
{
	int n = input->n;
	struct stream *stream = xcalloc((size_t)needs->streams, sizeof(*stream));
	struct target *target = xcalloc((size_t)needs->targets, sizeof(*target));
	uint64_t *clip = xcalloc((size_t)n, sizeof(*clip));

	for (int i = 0; i < needs->streams; i++) {
		const struct dims *d = &input[i];

		stream[i] = (struct stream){ d->t, d->h, d->w, d->c,
			draw_pixels(dims_count(d)) };
	}
	for (int i = 0; i < needs->targets; i++) {
		target[i] = (struct target){ .classes = needs->target[i].classes,
			.label = xcalloc((size_t)n, sizeof(int)) };
		for (int k = 0; k < n; k++)
			target[i].label[k] = k % target[i].classes;
	}
	for (int i = 0; i < n; i++)
		clip[i] = (uint64_t)i;
	*f = (struct feed){ stream, target, clip, SEED, NULL };
}

static void
free_feed(struct feed *f, const struct needs *needs)
{
	for (int i = 0; i < needs->streams && f->stream != NULL; i++)
		free(f->stream[i].bytes);
	for (int i = 0; i < needs->targets && f->target != NULL; i++)
		free(f->target[i].label);
	free((void *)f->stream);
	free((void *)f->target);
	free((void *)f->clip);
	*f = (struct feed){ 0 };
}

int
rig_shape(struct rig *r, const struct shape *s)
{
	const struct graph *g = r->net->graph;
	struct dims *input = graph_inputs(g, s->n, s->t, s->side);

	free_feed(&r->feed, &g->needs);
	make_feed(&r->feed, input, &g->needs);
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
	free_feed(&r->feed, &r->net->graph->needs);
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
