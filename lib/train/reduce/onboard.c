/* Sums over ranks by the devices themselves. */
#include <stdlib.h>

#include "base/mem.h"
#include "train/reduce/onboard.h"

struct onboard {
	struct fabric *fabric;
	struct device *device;
	void *stream;
	int type;			/* of what is sent */
	double ranks;
	void *room;			/* of the device's; NULL: fp32 */
};

struct onboard *
onboard_new(struct comm *c, struct device *d, const struct allreduce_options *o)
{
	struct onboard *b = xcalloc(1, sizeof(*b));

	b->device = d;
	b->stream = device_stream(d);
	b->type = (int)(o->wire - wires);
	b->ranks = b->type == WIRE_FP16 ? c->size : 1;
	if ((b->type != WIRE_FP32 && (b->room = device_alloc(d, o->most *
	    o->wire->elem)) == NULL) || (b->fabric = fabric_open(o->fabric, c,
	    o->kind == algorithm_find("torus") ? o->columns : c->size,
	    o->host)) == NULL) {
		onboard_free(b);
		return NULL;
	}
	return b;
}

void
onboard_free(struct onboard *b)
{
	if (b == NULL)
		return;
	fabric_close(b->fabric);
	if (b->room != NULL)
		device_free(b->device, b->room);
	free(b);
}

int
onboard_sum(struct onboard *b, void *x, size_t n)
{
	enum precision as = b->type == WIRE_BF16 ? PRECISION_BF16 :
	    PRECISION_FP16;

	if (b->room == NULL)
		return fabric_sum(b->fabric, x, n, WIRE_FP32, b->stream);
	device_narrow(b->device, b->room, x, n, as, 1 / b->ranks);
	if (fabric_sum(b->fabric, b->room, n, b->type, b->stream) != 0)
		return -1;
	device_widen(b->device, x, b->room, n, as, b->ranks);
	return 0;
}

int
onboard_count(struct onboard *b, float *x)
{
	return fabric_sum(b->fabric, x, 1, WIRE_FP32, b->stream);
}

int
onboard_wait(struct onboard *b)
{
	return fabric_wait(b->fabric, b->stream);
}
