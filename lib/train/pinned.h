#ifndef TRAIN_PINNED_H
#define TRAIN_PINNED_H

/* Clips that are loaded into memory which copies to the device are fast with. */

#include "data/loader.h"
#include "net/net.h"

/*
 * pinned_plan(n, o, d, s): loaders of ${d} by ${s}, with ${o}, are those of clips
 * that ${n} resizes itself, if its device can, and whose microbatches are all sent
 * ahead; before net_reserve_ahead, which then has room for them.
 */
void pinned_plan(struct net *n, struct loader_options *o,
    const struct dataset *d, const struct schedule *s);

/* pinned_room(n): for a loader whose pixels are sent to ${n} ahead of their pass
 * (net/ahead.h); memory as any, where they are not. */
struct loader_room pinned_room(const struct net *n);

#endif
