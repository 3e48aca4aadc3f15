#ifndef BACKEND_TRAY_H
#define BACKEND_TRAY_H

/*
 * What a microbatch brings, where operators find it.
 *
 * Those of a device that works on the host's memory find it where the caller
 * has it.  For one that is apart it is copied into a tray, memory of the device
 * with a place for everything, before the pass begins.  The places are always
 * the same, so that a pass that is kept (device_capture) finds there what the
 * microbatch at hand has brought: pixels, labels, numbers of clips, and those
 * values that change from one to the next (struct feed_values).
 */

#include "backend/backend.h"

struct tray;

/*
 * tray_new(d, needs, input, heads): for microbatches whose streams have these
 * shapes; NULL where there is no need of one, which all of the following take.
 * tray_bytes(t): of the device's memory, beginning at a multiple of 8.
 */
struct tray *tray_new(struct device *d, const struct needs *needs,
    const struct dims *input, int heads);
void tray_free(struct tray *t);
size_t tray_bytes(const struct tray *t);

/*
 * tray_ahead(t): bytes of its streams, which alone may be sent before;
 * tray_send(t, d, to, stream): these, to ${to}, by ${d}, from memory that copies
 * are fast with (device_bring).  Streams that are raw are always sent before, and
 * take what their clips do instead.
 */
size_t tray_ahead(const struct tray *t);
void tray_send(const struct tray *t, struct device *d, void *to,
    const struct stream *stream);

/*
 * tray_bring(t, at, landed, f, values): copy what ${f} has into the tray at
 * ${at}, its streams from ${landed} where they were sent there, and resized if they
 * are raw, NULL: from the host; returns what operators are to be given instead of it, which is the tray's and
 * lasts until the next call, and sets ${*values}.  What the caller has is the
 * caller's again.
 * tray_form(f): a number for the kinds of what it has, where there is a choice.
 * tray_return(t, f): the outcome to where ${f} wants it, after a forward pass.
 */
const struct feed *tray_bring(struct tray *t, void *at,
    const void *landed, const struct feed *f, const struct feed_values **values);
uint64_t tray_form(const struct tray *t, const struct feed *f);
void tray_return(const struct tray *t, const struct feed *f);

#endif
