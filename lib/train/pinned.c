/* Clips in memory that copies to the device are fast with. */
#include "train/pinned.h"

static void *
take(void *device, size_t bytes)
{
	return device_alloc_host(device, bytes);
}

static void
give(void *device, void *p)
{
	device_free_host(device, p);
}

void
pinned_plan(struct net *n, struct loader_options *o, const struct dataset *d,
    const struct schedule *s)
{
	o->raw = device_resizes(n->device);
	n->landing = o->raw ? loader_most(d, s, 0, o) : 0;
}

struct loader_room
pinned_room(const struct net *n)
{
	return n->ahead.at == NULL ? (struct loader_room){ NULL, NULL, NULL } :
	    (struct loader_room){ take, give, n->device };
}
