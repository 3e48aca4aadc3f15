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
make_feed(struct feed *f, const struct shape *s, int classes)
{
	size_t n = (size_t)s->n, side = (size_t)s->side;
	int *label = xcalloc(n, sizeof(*label));
	uint64_t *clip = xcalloc(n, sizeof(*clip));

	for (int i = 0; i < s->n; i++) {
		label[i] = i % classes;
		clip[i] = (uint64_t)i;
	}
	*f = (struct feed){ draw_pixels(n * (size_t)s->t * side * side * 3),
		label, clip, SEED };
}

static void
free_feed(struct rig *r)
{
	free((void *)r->feed.pixels);
	free((void *)r->feed.label);
	free((void *)r->feed.clip);
	free(r->losses);
	r->feed = (struct feed){ 0 };
	r->losses = NULL;
}

int
rig_shape(struct rig *r, const struct shape *s)
{
	struct dims input = shape_dims(s);

	r->plan = net_plan(r->net, &input, 1);
	if (r->plan == NULL || net_reserve(r->net) != 0)
		return -1;
	free_feed(r);
	make_feed(&r->feed, s, r->net->graph->classes);
	r->losses = xcalloc((size_t)s->n, sizeof(*r->losses));
	return 0;
}

int
rig_open(struct rig *r, const struct graph *g, struct device *d,
    const struct shape *s)
{
	*r = (struct rig){ .net = net_new(g, d) };
	if (r->net == NULL || rig_shape(r, s) != 0)
		return -1;
	r->gradient = device_alloc(d, g->elements * d->elem);
	if (r->gradient == NULL)
		return -1;
	net_init(r->net, SEED);
	return 0;
}

void
rig_close(struct rig *r)
{
	if (r->gradient != NULL)
		device_free(r->net->device, r->gradient);
	net_free(r->net);
	free_feed(r);
	*r = (struct rig){ 0 };
}

double
rig_forward(struct rig *r, const struct feed *feed)
{
	int n = r->plan->input.n;
	double sum = 0;

	net_forward(r->net, r->plan, feed, r->gradient);
	net_losses(r->plan, r->losses);
	for (int i = 0; i < n; i++)
		sum += r->losses[i];
	return sum / n;
}
