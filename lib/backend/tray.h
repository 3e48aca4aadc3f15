#ifndef BACKEND_TRAY_H
#define BACKEND_TRAY_H

/*
 * The staging buffer: device memory that holds the input of one microbatch.
 *
 * A device that works on host memory reads the caller's buffers, and needs
 * none.  For a discrete device the input is copied into the staging buffer
 * before a pass.  Every value has a fixed address: pixels, labels, clip
 * numbers, seed and loss scale.  A captured graph (device_capture) therefore
 * finds each new microbatch in the same place.
 */

#include "backend/backend.h"

struct tray;

/*
 * tray_new(d, needs, input, heads):
 * Lay out a staging buffer for streams of the shapes ${input}[needs->streams]
 * and the targets of ${needs}.  Allocate no device memory.  Return NULL if ${d}
 * works on host memory; tray_free, tray_bytes, tray_ahead, tray_bring and
 * tray_return accept NULL.  The caller frees it by tray_free.
 *
 * tray_bytes(t):
 * Return the bytes of device memory that the buffer needs, aligned to 8.
 */
struct tray *tray_new(struct device *d, const struct needs *needs,
    const struct dims *input, int heads);
void tray_free(struct tray *t);
size_t tray_bytes(const struct tray *t);

/*
 * tray_ahead(t):
 * Return the bytes of the pixels, the part of the input that may be prefetched.
 *
 * tray_send(t, d, to, stream):
 * Start asynchronous uploads of the pixels of ${stream} to the prefetch buffer
 * ${to}, in the order of ${d}.  The pixels are in memory of device_alloc_host,
 * unchanged until the copies are done.  Raw streams (media/raw.h) must be
 * prefetched.  They occupy the size of their raw clips.
 */
size_t tray_ahead(const struct tray *t);
void tray_send(const struct tray *t, struct device *d, void *to,
    const struct stream *stream);

/*
 * tray_bring(t, at, landed, f, values):
 * Copy the microbatch ${f} into the staging buffer at device address ${at},
 * tray_bytes(t) long.  Take the pixels from ${landed}, a buffer that tray_send
 * filled, or from the host if it is NULL.  Resize raw clips, which must be
 * prefetched, to [n][t][side][side][3] bytes.  Return a feed with device
 * pointers, owned by ${t} and overwritten by the next call.  Point ${*values}
 * at the device's seed and loss scale.  If ${t} is NULL, copy nothing, return
 * ${f} and set ${*values} to NULL.  The caller may reuse its host buffers,
 * except pixels that are still being prefetched (net/ahead.h).
 *
 * tray_form(t, f):
 * Return the graph-cache key for the optional fields of ${f}: outcome, and kind
 * and weights of each target.
 *
 * tray_return(t, f):
 * Copy the losses of a forward pass to ${f->outcome}, also in device memory.
 * Do nothing if that is NULL.
 */
const struct feed *tray_bring(struct tray *t, void *at,
    const void *landed, const struct feed *f, const struct feed_values **values);
uint64_t tray_form(const struct tray *t, const struct feed *f);
void tray_return(const struct tray *t, const struct feed *f);

#endif
