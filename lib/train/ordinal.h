#ifndef TRAIN_ORDINAL_H
#define TRAIN_ORDINAL_H

/* Which of a host's devices each of its ranks works on. */

#include "backend/backend.h"
#include "comm/comm.h"

enum { ORDINAL_DEVICES = 64 };

/* What one rank sees: launchers may show it all devices of its host, or its own. */
struct ordinal_view {
	char host[64];
	int devices;			/* up to ORDINAL_DEVICES */
	unsigned char uuid[ORDINAL_DEVICES][DEVICE_UUID];
};

/*
 * ordinal_pick(view, ranks, rank):
 * Return the ordinal of the device of rank ${rank} of ${ranks}: the only one that
 * it sees, or the one of its number among the ranks of its host that see the same
 * devices.  Where it sees none, return 0: opening it will say why.
 * Return -1 after a message if there is none for it, or if another rank of the
 * host has the same device.
 */
int ordinal_pick(const struct ordinal_view *view, int ranks, int rank);

/*
 * ordinal_of(c, b): the same of this rank and back end ${b}; 0 if that has nothing
 * to choose from.  Return -1 after a message, which may be this rank's alone; -2 if
 * ranks cannot be reached.  Collective: all ranks call it.
 */
int ordinal_of(struct comm *c, const struct backend *b);

#endif
