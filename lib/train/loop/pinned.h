#ifndef TRAIN_LOOP_PINNED_H
#define TRAIN_LOOP_PINNED_H

/* Clips that are loaded into memory which copies to the device are fast with. */

#include "data/loader.h"
#include "net/net.h"

/*
 * pinned_plan(n, o, d, s): loaders of ${d} by ${s}, with ${o}, are those of clips
 * that ${n} resizes itself, if its device can, and whose microbatches are all sent
 * ahead; before net_reserve_ahead, which then has room for them.
 * pinned_plan_views(n, o, d): the same of loader_views.
 */
void pinned_plan(struct net *n, struct loader_options *o,
    const struct dataset *d, const struct schedule *s);
void pinned_plan_views(struct net *n, struct view_options *o,
    const struct dataset *d);

/* pinned_room(n): for a loader whose pixels are sent to ${n} ahead of their pass
 * (net/ahead.h); memory as any, where they are not. */
struct loader_room pinned_room(const struct net *n);

/*
 * pinned_send(n, p, mb): the pixels of ${mb} are on their way to a pass over
 * ${p}, or are sent now; before that pass.
 * pinned_next(n, p, l): those that come next are sent, if they are there already.
 * pinned_return(n, l, mb): ${mb} is the loader's again, once no pixels are read
 * that were sent.
 */
void pinned_send(struct net *n, const struct plan *p,
    const struct microbatch *mb);
void pinned_next(struct net *n, const struct plan *p, struct loader *l);
void pinned_return(struct net *n, struct loader *l, struct microbatch *mb);

#endif
