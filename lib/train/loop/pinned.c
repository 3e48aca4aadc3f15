/* Clips in memory that copies to the device are fast with. */
#include "train/loop/pinned.h"

static void *
pinned_alloc(void *device, size_t bytes)
{
	return device_alloc_host(device, bytes);
}

static void
pinned_free_host(void *device, void *p)
{
	device_free_host(device, p);
}

static void
pinned_need_landing(struct net *n, size_t bytes)
{
	n->landing = bytes > n->landing ? bytes : n->landing;
}

void
pinned_plan(struct net *n, struct loader_options *o, const struct dataset *d,
    const struct schedule *s)
{
	o->raw = device_resizes(n->device);
	if (o->raw)
		pinned_need_landing(n, loader_most(d, s, 0, o));
}

void
pinned_plan_views(struct net *n, struct view_options *o,
    const struct dataset *d)
{
	o->raw = device_resizes(n->device);
	if (o->raw)
		pinned_need_landing(n, loader_views_most(d, o));
}

struct loader_room
pinned_room(const struct net *n)
{
	return n->ahead.at == NULL ? (struct loader_room){ NULL, NULL, NULL } :
	    (struct loader_room){ pinned_alloc, pinned_free_host, n->device };
}

void
pinned_send(struct net *n, const struct plan *p, const struct microbatch *mb)
{
	ahead_send(&n->ahead, p->tray, mb->stream, mb->load);
}

void
pinned_next(struct net *n, const struct plan *p, struct loader *l)
{
	const struct microbatch *mb = n->ahead.at == NULL ? NULL :
	    loader_peek(l);

	if (mb != NULL)
		pinned_send(n, p, mb);
}

void
pinned_return(struct net *n, struct loader *l, struct microbatch *mb)
{
	ahead_wait(&n->ahead);
	loader_return(l, mb);
}
