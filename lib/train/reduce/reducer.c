/*
 * Sums of gradients over ranks: exact or in any order, by the hosts or by the
 * devices.  The host makes the lists (comm/collective.h); devices execute them
 * on a side stream, so that no gradient passes through host memory.
 *
 * Devices sum in any order in fp32 or in 16 bits.  fp16 has five bits of
 * exponent.  So gradients are divided by the number of ranks before they are
 * sent, and the sum is in range if its elements are.  Without a loss scale,
 * gradients that are small for fp16 become zero.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "train/reduce/host_staging.h"
#include "train/reduce/reducer.h"

/* ---- lists in device memory ---- */

static void *
reducer_alloc(void *arg, size_t bytes)
{
	return device_alloc(((struct reducer_link *)arg)->device, bytes);
}

/* Queued messages may still use the old buffer. */
static void
reducer_free(void *arg, void *p)
{
	struct reducer_link *l = arg;

	if (p == NULL)
		return;
	if (l->fabric != NULL)
		fabric_wait(l->fabric, device_stream(l->device));
	device_free(l->device, p);
}

static void
reducer_copy(void *arg, void *to, const void *from, size_t bytes)
{
	device_copy(((struct reducer_link *)arg)->device, to, from, bytes);
}

static int
reducer_exchange(void *arg, const struct message *send, int sends,
    const struct message *receive, int receives)
{
	struct reducer_link *l = arg;

	return fabric_exchange(l->fabric, send, sends, receive, receives,
	    device_stream(l->device));
}

const struct collective_device reducer_on_device = { reducer_alloc,
	reducer_free, reducer_copy, reducer_exchange };

static void
reducer_add(void *arg, void *sum, const void *x, size_t n)
{
	device_add(((struct reducer_link *)arg)->device, sum, x, n);
}

/* ---- opening ---- */

static int
reducer_open_exact(struct reducer *r, struct comm *c, size_t largest,
    const struct fabric_calls *fabric)
{
	struct device *d = r->device;

	if (fabric == NULL) {
		exact_open(&r->exact, c, d->elem, host_staging_add, d, largest);
		return 0;
	}
	exact_open(&r->exact, c, d->elem, reducer_add, &r->link, largest);
	r->exact.device = &reducer_on_device;
	r->updated = device_event_new(d, 1);
	r->link.fabric = fabric_open(fabric, c, c->size, NULL);
	return r->link.fabric != NULL ? 0 : -1;
}

static int
reducer_open_on_device(struct reducer *r, struct comm *c, size_t largest,
    const struct allreduce_options *o, const struct fabric_calls *fabric)
{
	r->type = (int)(o->wire - wires);
	r->ranks = r->type == WIRE_FP16 ? c->size : 1;
	if (r->type != WIRE_FP32 && (r->buffer = device_alloc(r->link.device,
	    largest * o->wire->elem)) == NULL)
		return -1;
	if (device_has_step_check(r->device) && (r->found_inf =
	    device_alloc(r->device, sizeof(*r->found_inf))) == NULL)
		return -1;
	r->link.fabric = fabric_open(fabric, c,
	    o->kind == algorithm_find("torus") ? o->columns : c->size,
	    o->host);
	return r->link.fabric != NULL ? 0 : -1;
}

static int
reducer_open_on_host(struct reducer *r, struct comm *c, size_t largest,
    const struct allreduce_options *free)
{
	struct allreduce_options o = *free;

	o.elem = r->device->elem;
	o.add = host_staging_add;
	o.arg = r->device;
	o.max = largest;
	return allreduce_open(&r->sum, c, &o);
}

struct reducer *
reducer_open(struct comm *c, struct device *d, struct device *side_stream,
    size_t largest, const struct allreduce_options *free,
    const struct fabric_calls *fabric)
{
	struct reducer *r = xcalloc(1, sizeof(*r));
	int bad;

	if (free == NULL && c->size == 1)
		fabric = NULL;
	*r = (struct reducer){ .whole_tree = free == NULL,
		.on_device = fabric != NULL, .link = { side_stream, NULL },
		.device = d };
	if (r->on_device)
		r->summed = device_event_new(side_stream, 1);
	bad = free == NULL ? reducer_open_exact(r, c, largest, fabric) :
	    r->on_device ? reducer_open_on_device(r, c, largest, free, fabric) :
	    reducer_open_on_host(r, c, largest, free);
	if (!bad)
		return r;
	reducer_close(r);
	return NULL;
}

void
reducer_close(struct reducer *r)
{
	struct device *d = r->link.device;

	exact_close(&r->exact);
	allreduce_close(&r->sum);
	fabric_close(r->link.fabric);
	device_free(d, r->buffer);
	device_free(r->device, r->found_inf);
	device_event_free(d, r->summed);
	device_event_free(r->device, r->updated);
	free(r);
}

/* ---- sums ---- */

/* Sum in any order, by the devices. */
static int
reducer_sum_on_device(struct reducer *r, void *x, size_t n)
{
	enum precision as = r->type == WIRE_BF16 ? PRECISION_BF16 :
	    PRECISION_FP16;
	struct device *d = r->link.device;
	void *stream = device_stream(d);

	if (r->buffer == NULL)
		return fabric_sum(r->link.fabric, x, n, WIRE_FP32, stream);
	device_narrow(d, r->buffer, x, n, as, 1 / r->ranks);
	if (fabric_sum(r->link.fabric, r->buffer, n, r->type, stream) != 0)
		return -1;
	device_widen(d, x, r->buffer, n, as, r->ranks);
	return 0;
}

static int
reducer_sum(struct reducer *r, const struct tree *t, size_t n)
{
	void *data = t->part[0].data;
	int first;

	if (r->whole_tree) {
		exact_leaves(&r->exact, t->leaves, &first);
		return exact_reduce_scatter(&r->exact, t, 0, n, data);
	}
	return r->on_device ? reducer_sum_on_device(r, data, n) :
	    allreduce_run(&r->sum, data, 0, n);
}

int
reducer_begin(struct reducer *r, const struct tree *t, size_t from, size_t n)
{
	struct device *d = r->link.device;

	if (reducer_sum(r, t, n) != 0)
		return -1;
	if (from > 0 || !r->on_device)
		return 0;
	if (r->found_inf != NULL && fabric_sum(r->link.fabric, r->found_inf, 1,
	    WIRE_FP32, device_stream(d)) != 0)
		return -1;
	device_event_record(d, r->summed, 0);
	return 0;
}

void
reducer_wait(struct reducer *r)
{
	if (r->on_device)
		device_event_follow(r->device, r->summed, 0);
}

int
reducer_done(struct reducer *r)
{
	return r->on_device ? fabric_wait(r->link.fabric,
	    device_stream(r->link.device)) : 0;
}

int
reducer_gather(struct reducer *r, const struct segments *s, void *data)
{
	struct device *d = r->link.device;

	device_event_record(r->device, r->updated, 0);
	device_event_follow(d, r->updated, 0);
	if (segments_gather_on(s, data, r->device->elem, &reducer_on_device,
	    &r->link) != 0)
		return -1;
	device_event_record(d, r->summed, 0);
	device_event_follow(r->device, r->summed, 0);
	return 0;
}
