#ifndef TRAIN_PINNED_H
#define TRAIN_PINNED_H

/* Clips that are loaded into memory which copies to the device are fast with. */

#include "data/loader.h"
#include "net/net.h"

/* pinned_room(n): for a loader whose pixels are sent to ${n} ahead of their pass
 * (net/ahead.h); memory as any, where they are not. */
struct loader_room pinned_room(const struct net *n);

#endif
