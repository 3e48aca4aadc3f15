/* Host staging of a device's vectors for sums. */
#include "comm/wire.h"
#include "train/reduce/host_staging.h"

size_t
host_staging_bytes(const struct device *d, int parts, size_t largest)
{
	return d->backend->discrete ? (size_t)parts * largest * d->elem : 0;
}

void
host_staging_open(struct host_staging *s, struct device *d, size_t largest)
{
	*s = (struct host_staging){ .device = d, .max = largest,
		.copies = d->backend->discrete };
}

int
host_staging_reserve(struct host_staging *s, int parts)
{
	if (!s->copies || parts <= s->parts)
		return 0;
	device_free_host(s->device, s->buffer);
	s->parts = 0;
	s->buffer = device_alloc_host(s->device, host_staging_bytes(s->device,
	    parts, s->max));
	if (s->buffer == NULL)
		return -1;
	s->parts = parts;
	return 0;
}

void
host_staging_close(struct host_staging *s)
{
	device_free_host(s->device, s->buffer);
	*s = (struct host_staging){ .buffer = NULL };
}

void
host_staging_download(struct host_staging *s, const struct tree *t, size_t from,
    size_t to)
{
	size_t elem = s->device->elem;

	s->tree = *t;
	for (int k = 0; k < t->n; k++) {
		char *data = (char *)t->part[k].data + from * elem;

		s->tree.part[k].data = data;
		if (!s->copies)
			continue;
		s->tree.part[k].data = s->buffer + (size_t)k * s->max * elem;
		device_download(s->device, s->tree.part[k].data, data,
		    (to - from) * elem);
	}
}

void
host_staging_upload(struct host_staging *s, const struct tree *t, size_t from,
    size_t at, size_t n)
{
	size_t elem = s->device->elem;

	if (s->copies)
		device_upload(s->device, (char *)t->part[0].data + at * elem,
		    (const char *)s->tree.part[0].data + (at - from) * elem,
		    n * elem);
}

/*
 * exact_segment depends only on the size of the range, so the staged
 * bucket, which begins with element 0, has the same segments.
 */
int
host_staging_reduce_scatter(struct host_staging *s, struct exact *e,
    const struct tree *t, size_t from, size_t to)
{
	size_t end, at = exact_segment(e->comm, from, to, &end);

	if (e->comm->size == 1)
		return 0;
	if (host_staging_reserve(s, t->n) != 0)
		return -1;
	host_staging_download(s, t, from, to);
	if (exact_reduce_scatter(e, &s->tree, 0, to - from,
	    s->tree.part[0].data) != 0)
		return -1;
	host_staging_upload(s, t, from, at, end - at);
	return 0;
}

void
host_staging_add(void *device, void *sum, const void *x, size_t n)
{
	const struct device *d = device;

	if (!d->backend->discrete)
		device_add(device, sum, x, n);
	else if (d->elem == sizeof(float))
		wire_sum(NULL, sum, x, n);
	else
		for (size_t i = 0; i < n; i++)
			((double *)sum)[i] += ((const double *)x)[i];
}
