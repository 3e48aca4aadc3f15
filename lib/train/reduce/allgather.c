/* An all-gather of vectors in device memory. */
#include <stdlib.h>

#include "base/mem.h"
#include "comm/exact.h"
#include "train/reduce/host_staging.h"
#include "train/reduce/reducer.h"

struct allgather {
	const struct segments *share;
	struct device *device;
	struct reducer *reducer;	/* NULL: the host gathers */
	/* Two buckets: one is copied while the other is exchanged. */
	char *buffer[2];
	struct exchange exchange[2];
};

/* Return 1 if other ranks own elements. */
static int
allgather_is_shared(const struct segments *s)
{
	return !s->copies && s->comm->size > 1;
}

size_t
allgather_bytes(const struct segments *share, const struct device *d)
{
	return allgather_is_shared(share) &&
	    d->backend->discrete ? 2 * share->bucket * d->elem : 0;
}

struct allgather *
allgather_new(const struct segments *share, struct device *d)
{
	struct allgather *g = xcalloc(1, sizeof(*g));
	size_t bytes = allgather_bytes(share, d) / 2;

	g->share = share;
	g->device = d;
	for (int i = 0; i < 2 && bytes > 0; i++)
		if ((g->buffer[i] = device_alloc_host(d, bytes)) == NULL) {
			allgather_free(g);
			return NULL;
		}
	return g;
}

void
allgather_free(struct allgather *g)
{
	if (g == NULL)
		return;
	for (int i = 0; i < 2; i++) {
		device_free_host(g->device, g->buffer[i]);
		exchange_free(&g->exchange[i], g->share->comm);
	}
	free(g);
}

static size_t
allgather_end_of(const struct segments *s, size_t from)
{
	return s->elements - from < s->bucket ? s->elements : from + s->bucket;
}

/*
 * Copy this rank's segments of bucket number ${i} to its buffer; with ${in},
 * copy those of the other ranks from it to ${data}.
 */
static void
allgather_copy(struct allgather *g, char *data, size_t i, int in)
{
	const struct segments *s = g->share;
	size_t elem = g->device->elem, from = i * s->bucket;
	size_t to = allgather_end_of(s, from);

	char *buffer = g->buffer[i % 2];
	size_t end, at = exact_segment(s->comm, from, to, &end);

	if (!in) {
		device_download(g->device, buffer + (at - from) * elem,
		    data + at * elem, (end - at) * elem);
		return;
	}
	device_upload(g->device, data + from * elem, buffer,
	    (at - from) * elem);
	device_upload(g->device, data + end * elem,
	    buffer + (end - from) * elem, (to - end) * elem);
}

static int
allgather_finish(struct allgather *g, char *data, size_t i)
{
	if (comm_wait(&g->exchange[i % 2]) != 0)
		return -1;
	allgather_copy(g, data, i, 1);
	return 0;
}

void
allgather_by(struct allgather *g, struct reducer *r)
{
	g->reducer = r->updated != NULL ? r : NULL;
}

int
allgather_run(struct allgather *g, void *data)
{
	const struct segments *s = g->share;
	size_t buckets = (s->elements + s->bucket - 1) / s->bucket;

	if (!allgather_is_shared(s))
		return 0;
	if (g->reducer != NULL)
		return reducer_gather(g->reducer, s, data);
	if (!g->device->backend->discrete)
		return segments_gather(s, data, g->device->elem);
	for (size_t i = 0; i < buckets; i++) {
		size_t from = i * s->bucket;

		/* Start this bucket, then finish the one before. */
		allgather_copy(g, data, i, 0);
		if (segments_gather_start(s, &g->exchange[i % 2],
		    g->buffer[i % 2], g->device->elem, from,
		    allgather_end_of(s, from)) != 0 ||
		    (i > 0 && allgather_finish(g, data, i - 1) != 0))
			return -1;
	}
	return buckets > 0 ? allgather_finish(g, data, buckets - 1) : 0;
}
