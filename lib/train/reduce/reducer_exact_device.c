/*
 * The reducer that sums exactly on the devices.  The host makes the lists
 * (comm/halving.h); the devices send the messages (comm/fabric.h) and add, on a
 * side stream, so that no gradient passes through host memory.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "train/reduce/reducer.h"

struct reducer_exact_device {
	struct reducer reducer;
	struct exact exact;
	struct fabric *fabric;
	struct device *device, *side_stream;
	void *stream;			/* that of ${side_stream} */
	struct event *summed;		/* ${side_stream} has summed all
					 * buckets, or gathered */
	struct event *updated;		/* the device has updated its weights */
};

/* ---- lists in device memory ---- */

static void *
reducer_exact_alloc(void *arg, size_t bytes)
{
	struct reducer_exact_device *r = arg;

	return device_alloc(r->side_stream, bytes);
}

/* Queued messages may still use the old buffer. */
static void
reducer_exact_free(void *arg, void *p)
{
	struct reducer_exact_device *r = arg;

	if (p == NULL)
		return;
	if (r->fabric != NULL)
		fabric_wait(r->fabric, r->stream);
	device_free(r->side_stream, p);
}

static void
reducer_exact_copy(void *arg, void *to, const void *from, size_t bytes)
{
	struct reducer_exact_device *r = arg;

	device_copy(r->side_stream, to, from, bytes);
}

static int
reducer_exact_exchange(void *arg, const struct message *send, int sends,
    const struct message *receive, int receives)
{
	struct reducer_exact_device *r = arg;

	return fabric_exchange(r->fabric, send, sends, receive, receives,
	    r->stream);
}

static void
reducer_exact_add(void *arg, void *sum, const void *x, size_t n)
{
	struct reducer_exact_device *r = arg;

	device_add(r->side_stream, sum, x, n);
}

static const struct collective_device on_device = { reducer_exact_alloc,
	reducer_exact_free, reducer_exact_copy, reducer_exact_exchange };

/* ---- the reducer ---- */

static int
reducer_exact_device_begin(struct reducer *reducer, const struct tree *t,
    size_t from, size_t n)
{
	struct reducer_exact_device *r = (struct reducer_exact_device *)reducer;
	int first;

	exact_leaves(&r->exact, t->leaves, &first);
	if (exact_reduce_scatter(&r->exact, t, 0, n, t->part[0].data) != 0)
		return -1;
	if (from == 0)
		device_event_record(r->side_stream, r->summed, 0);
	return 0;
}

static void
reducer_exact_device_wait(struct reducer *reducer)
{
	const struct reducer_exact_device *r =
	    (struct reducer_exact_device *)reducer;

	device_event_follow(r->device, r->summed, 0);
}

static int
reducer_exact_device_done(struct reducer *reducer)
{
	const struct reducer_exact_device *r =
	    (struct reducer_exact_device *)reducer;

	return fabric_wait(r->fabric, r->stream);
}

static int
reducer_exact_device_gather(struct reducer *reducer, const struct segments *s,
    void *data)
{
	struct reducer_exact_device *r = (struct reducer_exact_device *)reducer;

	device_event_record(r->device, r->updated, 0);
	device_event_follow(r->side_stream, r->updated, 0);
	if (segments_gather_on(s, data, r->device->elem, &on_device, r) != 0)
		return -1;
	device_event_record(r->side_stream, r->summed, 0);
	device_event_follow(r->device, r->summed, 0);
	return 0;
}

static void
reducer_exact_device_close(struct reducer *reducer)
{
	struct reducer_exact_device *r = (struct reducer_exact_device *)reducer;

	exact_close(&r->exact);
	fabric_close(r->fabric);
	device_event_free(r->side_stream, r->summed);
	device_event_free(r->device, r->updated);
	free(r);
}

struct reducer *
reducer_exact_device(struct comm *c, struct device *d,
    struct device *side_stream, const struct fabric_calls *fabric,
    size_t largest)
{
	struct reducer_exact_device *r = xcalloc(1, sizeof(*r));

	*r = (struct reducer_exact_device){ .reducer = {
		.begin = reducer_exact_device_begin,
		.wait = reducer_exact_device_wait,
		.done = reducer_exact_device_done,
		.gather = reducer_exact_device_gather,
		.close = reducer_exact_device_close, .whole_tree = 1,
		.on_device = 1 }, .device = d, .side_stream = side_stream,
		.stream = device_stream(side_stream),
		.summed = device_event_new(side_stream, 1),
		.updated = device_event_new(d, 1) };
	exact_open(&r->exact, c, d->elem, reducer_exact_add, r, largest);
	r->exact.device = &on_device;
	if ((r->fabric = fabric_open(fabric, c, c->size, NULL)) != NULL)
		return &r->reducer;
	reducer_exact_device_close(&r->reducer);
	return NULL;
}
