/* Host staging of a device's vectors for sums. */
#include "comm/wire.h"
#include "train/reduce/detour.h"

size_t
detour_bytes(const struct device *d, int parts, size_t most)
{
	return d->backend->apart ? (size_t)parts * most * d->elem : 0;
}

void
detour_open(struct detour *s, struct device *d, size_t most)
{
	*s = (struct detour){ .device = d, .most = most,
		.copies = d->backend->apart };
}

int
detour_room(struct detour *s, int parts)
{
	if (!s->copies || parts <= s->parts)
		return 0;
	device_free_host(s->device, s->room);
	s->parts = 0;
	s->room = device_alloc_host(s->device, detour_bytes(s->device, parts,
	    s->most));
	if (s->room == NULL)
		return -1;
	s->parts = parts;
	return 0;
}

void
detour_close(struct detour *s)
{
	if (s->room != NULL)
		device_free_host(s->device, s->room);
	*s = (struct detour){ .room = NULL };
}

void
detour_take(struct detour *s, const struct tree *t, size_t from, size_t to)
{
	size_t elem = s->device->elem;

	s->tree = *t;
	for (int k = 0; k < t->n; k++) {
		char *data = (char *)t->part[k].data + from * elem;

		s->tree.part[k].data = data;
		if (!s->copies)
			continue;
		s->tree.part[k].data = s->room + (size_t)k * s->most * elem;
		device_download(s->device, s->tree.part[k].data, data,
		    (to - from) * elem);
	}
}

void
detour_give(struct detour *s, const struct tree *t, size_t from, size_t at,
    size_t n)
{
	size_t elem = s->device->elem;

	if (s->copies)
		device_upload(s->device, (char *)t->part[0].data + at * elem,
		    (const char *)s->tree.part[0].data + (at - from) * elem,
		    n * elem);
}

/*
 * exact_cut depends only on the size of the range, so the staged bucket, which
 * begins with element 0, has the same segments.
 */
int
detour_scatter(struct detour *s, struct exact *e, const struct tree *t,
    size_t from, size_t to)
{
	const struct comm *c = e->comm;
	size_t at = exact_cut(from, to, c->rank, c->size);

	if (c->size == 1)
		return 0;
	if (detour_room(s, t->n) != 0)
		return -1;
	detour_take(s, t, from, to);
	if (exact_scatter(e, &s->tree, 0, to - from, s->tree.part[0].data) != 0)
		return -1;
	detour_give(s, t, from, at, exact_cut(from, to, c->rank + 1, c->size) -
	    at);
	return 0;
}

int
detour_reduce(struct detour *s, struct exact *e, const struct tree *t,
    size_t from, size_t to)
{
	if (detour_room(s, t->n) != 0)
		return -1;
	detour_take(s, t, from, to);
	if (exact_reduce(e, &s->tree, 0, to - from, s->tree.part[0].data) != 0)
		return -1;
	detour_give(s, t, from, from, to - from);
	return 0;
}

void
detour_add(void *device, void *sum, const void *x, size_t n)
{
	const struct device *d = device;

	if (!d->backend->apart)
		device_add(device, sum, x, n);
	else if (d->elem == sizeof(float))
		wire_sum(NULL, sum, x, n);
	else
		for (size_t i = 0; i < n; i++)
			((double *)sum)[i] += ((const double *)x)[i];
}
