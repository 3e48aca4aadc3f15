/* The exponential moving average of the weights. */
#include "train/optim/ema.h"

const struct slot_kind ema_slots[EMA_SLOTS] = {
	{ "ema", SLOT_ELEMENT, SLOT_REAL, 0, 1 },
	{ "optim/ema_updates", SLOT_ONCE, SLOT_F64, 0, 0 },
};

void
ema_track(struct slots *s, int first, double decay,
    const struct owned_shard *own, size_t n)
{
	double t = *(const double *)s->slot[first + 1].data;
	double d = (1 + t) / (10 + t);
	struct track k = { .w = s->slot[first].data, .x = s->net->w,
		.scale = 1, .shard = own, .shards = n };

	/* The first update is a copy. */
	k.rate = 1 - (t == 0 ? 0 : d < decay ? d : decay);
	device_track(s->net->device, &k);
}

void
ema_count(struct slots *s, int first)
{
	*(double *)s->slot[first + 1].data += 1;
}

/* Exchange ${bytes} of device memory by way of ${buffer}, of EMA_SWAP bytes. */
static void
ema_swap_bytes(struct device *d, char *a, char *b, size_t bytes, void *buffer)
{
	for (size_t at = 0; at < bytes; at += EMA_SWAP) {
		size_t now = bytes - at < EMA_SWAP ? bytes - at : EMA_SWAP;

		device_copy(d, buffer, a + at, now);
		device_copy(d, a + at, b + at, now);
		device_copy(d, b + at, buffer, now);
	}
}

int
ema_swap(struct slots *s, int first, struct allgather *gather, void *w,
    void *buffer)
{
	const struct segments *share = s->share;

	if (*(const double *)s->slot[first + 1].data == 0)
		return 0;
	for (int i = 0; i < share->n; i++) {
		const struct segment *g = &share->segment[i];

		ema_swap_bytes(s->net->device, slots_element(s->net, w, g->at),
		    slot_at(&s->slot[first], g->held), g->n *
		    s->net->device->elem, buffer);
	}
	return allgather_run(gather, w);
}
