/* An all-gather of vectors in device memory. */
#include <stdlib.h>

#include "base/mem.h"
#include "train/reduce/detour.h"

struct gathering {
	const struct segments *share;
	struct device *device;
	/* Two buckets: one is copied while the other is exchanged. */
	char *room[2];
	struct exchange exchange[2];
};

/* Return 1 if other ranks own elements. */
static int
gathering_is_shared(const struct segments *s)
{
	return !s->copies && s->comm->size > 1;
}

size_t
gathering_bytes(const struct segments *share, const struct device *d)
{
	return gathering_is_shared(share) &&
	    d->backend->apart ? 2 * share->bucket * d->elem : 0;
}

struct gathering *
gathering_new(const struct segments *share, struct device *d)
{
	struct gathering *g = xcalloc(1, sizeof(*g));
	size_t bytes = gathering_bytes(share, d) / 2;

	g->share = share;
	g->device = d;
	for (int i = 0; i < 2 && bytes > 0; i++)
		if ((g->room[i] = device_alloc_host(d, bytes)) == NULL) {
			gathering_free(g);
			return NULL;
		}
	return g;
}

void
gathering_free(struct gathering *g)
{
	if (g == NULL)
		return;
	for (int i = 0; i < 2; i++) {
		if (g->room[i] != NULL)
			device_free_host(g->device, g->room[i]);
		exchange_free(&g->exchange[i], g->share->comm);
	}
	free(g);
}

static size_t
gathering_end_of(const struct segments *s, size_t from)
{
	return s->elements - from < s->bucket ? s->elements : from + s->bucket;
}

/*
 * Copy this rank's segments of bucket number ${i} to its buffer; with ${in},
 * copy those of the other ranks from it to ${data}.
 */
static void
gathering_copy(struct gathering *g, char *data, size_t i, int in)
{
	const struct segments *s = g->share;
	size_t elem = g->device->elem, from = i * s->bucket;
	size_t to = gathering_end_of(s, from);

	for (int k = 0; k < s->n; k++) {
		const struct segment *one = &s->segment[k];
		char *room = g->room[i % 2] + (one->at - from) * elem;
		int own = one->rank == s->comm->rank;

		if (one->at < from || one->at >= to)
			continue;
		if (own && !in)
			device_download(g->device, room, data + one->at * elem,
			    one->n * elem);
		else if (!own && in)
			device_upload(g->device, data + one->at * elem, room,
			    one->n * elem);
	}
}

static int
gathering_finish(struct gathering *g, char *data, size_t i)
{
	if (comm_wait(&g->exchange[i % 2]) != 0)
		return -1;
	gathering_copy(g, data, i, 1);
	return 0;
}

int
gathering_run(struct gathering *g, void *data)
{
	const struct segments *s = g->share;
	size_t buckets = (s->elements + s->bucket - 1) / s->bucket;

	if (!gathering_is_shared(s))
		return 0;
	if (!g->device->backend->apart)
		return segments_gather(s, data, g->device->elem);
	for (size_t i = 0; i < buckets; i++) {
		size_t from = i * s->bucket;

		/* Start this bucket, then finish the one before. */
		gathering_copy(g, data, i, 0);
		if (segments_gather_start(s, &g->exchange[i % 2],
		    g->room[i % 2], g->device->elem, from,
		    gathering_end_of(s, from)) != 0 ||
		    (i > 0 && gathering_finish(g, data, i - 1) != 0))
			return -1;
	}
	return buckets > 0 ? gathering_finish(g, data, buckets - 1) : 0;
}
