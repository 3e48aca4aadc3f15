/*
 * The reducer that sums by the devices themselves (comm/fabric.h), in fp32 or
 * in 16 bits.  fp16 has five bits of exponent.  So gradients are divided by the
 * number of ranks before they are sent, and the sum is in range if its elements
 * are.  Without a loss scale, gradients that are small for fp16 become zero.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "train/reduce/reducer.h"

struct reducer_device {
	struct reducer reducer;
	struct fabric *fabric;
	struct device *device, *side_stream;
	void *stream;			/* that of ${side_stream} */
	struct event *summed;		/* ${side_stream} has summed all
					 * buckets */
	int type;			/* dtype of messages */
	double ranks;			/* divisor of gradients */
	void *buffer;			/* 16-bit copy in device memory; NULL:
					 * fp32 */
};

static int
reducer_device_sum(struct reducer_device *r, void *x, size_t n)
{
	enum precision as = r->type == WIRE_BF16 ? PRECISION_BF16 :
	    PRECISION_FP16;

	if (r->buffer == NULL)
		return fabric_sum(r->fabric, x, n, WIRE_FP32, r->stream);
	device_narrow(r->side_stream, r->buffer, x, n, as, 1 / r->ranks);
	if (fabric_sum(r->fabric, r->buffer, n, r->type, r->stream) != 0)
		return -1;
	device_widen(r->side_stream, x, r->buffer, n, as, r->ranks);
	return 0;
}

static int
reducer_device_begin(struct reducer *reducer, const struct tree *t, size_t from,
    size_t n)
{
	struct reducer_device *r = (struct reducer_device *)reducer;

	if (reducer_device_sum(r, t->part[0].data, n) != 0)
		return -1;
	if (from > 0)
		return 0;
	if (reducer->found_inf != NULL && fabric_sum(r->fabric,
	    reducer->found_inf, 1, WIRE_FP32, r->stream) != 0)
		return -1;
	device_event_record(r->side_stream, r->summed, 0);
	return 0;
}

static void
reducer_device_wait(struct reducer *reducer)
{
	const struct reducer_device *r = (struct reducer_device *)reducer;

	device_event_follow(r->device, r->summed, 0);
}

static int
reducer_device_done(struct reducer *reducer)
{
	const struct reducer_device *r = (struct reducer_device *)reducer;

	return fabric_wait(r->fabric, r->stream);
}

static void
reducer_device_close(struct reducer *reducer)
{
	struct reducer_device *r = (struct reducer_device *)reducer;

	fabric_close(r->fabric);
	if (r->buffer != NULL)
		device_free(r->side_stream, r->buffer);
	if (r->reducer.found_inf != NULL)
		device_free(r->device, r->reducer.found_inf);
	device_event_free(r->side_stream, r->summed);
	free(r);
}

struct reducer *
reducer_device(struct comm *c, struct device *d, struct device *side_stream,
    const struct allreduce_options *o)
{
	struct reducer_device *r = xcalloc(1, sizeof(*r));
	int type = (int)(o->wire - wires), bad = 0;

	*r = (struct reducer_device){ .reducer = {
		.begin = reducer_device_begin, .wait = reducer_device_wait,
		.done = reducer_device_done, .close = reducer_device_close,
		.on_device = 1 }, .device = d, .side_stream = side_stream,
		.stream = device_stream(side_stream), .type = type,
		.ranks = type == WIRE_FP16 ? c->size : 1,
		.summed = device_event_new(side_stream, 1) };
	if (type != WIRE_FP32)
		bad = (r->buffer = device_alloc(side_stream,
		    o->max * o->wire->elem)) == NULL;
	if (!bad && device_has_step_check(d))
		bad = (r->reducer.found_inf = device_alloc(d,
		    sizeof(*r->reducer.found_inf))) == NULL;
	if (!bad && (r->fabric = fabric_open(o->fabric, c,
	    o->kind == algorithm_find("torus") ? o->columns : c->size,
	    o->host)) != NULL)
		return &r->reducer;
	reducer_device_close(&r->reducer);
	return NULL;
}
