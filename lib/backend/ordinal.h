#ifndef BACKEND_ORDINAL_H
#define BACKEND_ORDINAL_H

/* Choose the device of each rank of a host. */

#include "backend/backend.h"
#include "comm/comm.h"

enum { ORDINAL_DEVICES = 64 };

/* The devices that one rank sees.  A launcher may show it all devices of its
 * host, or only its own one. */
struct ordinal_view {
	char host[64];
	int devices;			/* at most ORDINAL_DEVICES */
	unsigned char uuid[ORDINAL_DEVICES][DEVICE_UUID];
};

/*
 * ordinal_pick(view, ranks, rank):
 * Return the ordinal of the device for rank ${rank} of ${ranks}.  It is 0 if
 * the rank sees one device.  Otherwise it is the rank's number among the ranks
 * of its host that see the same devices.  Return 0 if the rank sees none:
 * opening it will report why.  Return -1 after a message if there are too few
 * devices, or if another rank of the host has the same device.
 */
int ordinal_pick(const struct ordinal_view *view, int ranks, int rank);

/*
 * ordinal_of(c, b): return the ordinal for this rank with back end ${b}; 0 if
 * the back end has no devices to choose from.  Return -1 after a message,
 * possibly on this rank only.  Return -2 if communication fails.  Collective:
 * all ranks call it.
 */
int ordinal_of(struct comm *c, const struct backend *b);

#endif
