/* The exponential moving average of the weights. */
#include <stdlib.h>

#include "base/mem.h"
#include "train/optim/ema.h"

const struct slot_kind ema_slots[EMA_SLOTS] = {
	{ "ema", SLOT_ELEMENT, SLOT_REAL, 0, 1 },
	{ "optim/ema_updates", SLOT_ONCE, SLOT_F64, 0, 0 },
};

static char *
ema_element(const struct slots *s, const void *flat, size_t i)
{
	return (char *)flat + i * s->net->device->elem;
}

void
ema_track(struct slots *s, int first, double decay, const struct owned_shard *own,
    size_t n)
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

/* Exchange ${bytes} of device memory, in chunks, through the host. */
static void
ema_swap_bytes(struct device *d, char *a, char *b, size_t bytes)
{
	/* Each chunk waits four times for the device: make chunks large. */
	enum { CHUNK = 1 << 22 };
	char *buffer[2] = { xmalloc(CHUNK), xmalloc(CHUNK) };

	for (size_t at = 0; at < bytes; at += CHUNK) {
		size_t now = bytes - at < CHUNK ? bytes - at : CHUNK;

		device_download(d, buffer[0], a + at, now);
		device_download(d, buffer[1], b + at, now);
		device_upload(d, a + at, buffer[1], now);
		device_upload(d, b + at, buffer[0], now);
	}
	free(buffer[0]);
	free(buffer[1]);
}

int
ema_swap(struct slots *s, int first, struct allgather *gather, void *w)
{
	const struct segments *share = s->share;

	if (*(const double *)s->slot[first + 1].data == 0)
		return 0;
	for (int i = 0; i < share->n; i++) {
		const struct segment *g = &share->segment[i];

		ema_swap_bytes(s->net->device, ema_element(s, w, g->at),
		    slot_at(&s->slot[first], g->held), g->n *
		    s->net->device->elem);
	}
	return allgather_run(gather, w);
}
