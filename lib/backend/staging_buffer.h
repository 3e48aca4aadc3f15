#ifndef BACKEND_STAGING_BUFFER_H
#define BACKEND_STAGING_BUFFER_H

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

struct staging_buffer;

/*
 * staging_buffer_new(d, needs, input, heads):
 * Lay out a staging buffer for streams of the shapes ${input}[needs->streams]
 * and the targets of ${needs}.  Allocate no device memory.  Return NULL if ${d}
 * works on host memory; staging_buffer_free, staging_buffer_bytes,
 * staging_buffer_prefetch_bytes, staging_buffer_load and
 * staging_buffer_return_outcome accept NULL. The caller frees it by
 * staging_buffer_free.
 *
 * staging_buffer_bytes(t):
 * Return the bytes of device memory that the buffer needs, aligned to 8.
 */
struct staging_buffer *staging_buffer_new(struct device *d,
    const struct input_spec *needs, const struct dims *input, int heads);
void staging_buffer_free(struct staging_buffer *t);
size_t staging_buffer_bytes(const struct staging_buffer *t);

/*
 * staging_buffer_prefetch_bytes(t):
 * Return the bytes of the pixels, the part of the input that may be prefetched.
 *
 * staging_buffer_prefetch(t, d, to, stream):
 * Start asynchronous uploads of the pixels of ${stream} to the prefetch buffer
 * ${to}, in the order of ${d}.  The pixels are in memory of device_alloc_host,
 * unchanged until the copies are done.
 */
size_t staging_buffer_prefetch_bytes(const struct staging_buffer *t);
void staging_buffer_prefetch(const struct staging_buffer *t, struct device *d,
    void *to, const struct stream *stream);

/*
 * staging_buffer_load(t, at, uploaded, f, values):
 * Copy the microbatch ${f} into the staging buffer at device address ${at},
 * staging_buffer_bytes(t) long. Take the pixels from ${uploaded}, a buffer that
 * staging_buffer_prefetch filled, or from the host if it is NULL. Return a
 * feed with device pointers, owned by ${t} and overwritten by the next call.
 * Point ${*values} at the device's seed and loss scale. If ${t} is NULL, copy
 * nothing, return ${f} and set ${*values} to NULL. The caller may reuse its
 * host buffers, except pixels that are still being prefetched (net/prefetch.h).
 *
 * staging_buffer_key(t, f):
 * Return the graph-cache key for the optional fields of ${f}: outcome, and kind
 * and weights of each target, of clips and of classes.
 *
 * staging_buffer_return_outcome(t, f):
 * Copy the losses of a forward pass to ${f->outcome}, also in device memory.
 * Do nothing if that is NULL.
 */
const struct feed *staging_buffer_load(struct staging_buffer *t, void *at,
    const void *uploaded, const struct feed *f,
    const struct feed_values **values);
uint64_t staging_buffer_key(const struct staging_buffer *t,
    const struct feed *f);
void staging_buffer_return_outcome(const struct staging_buffer *t,
    const struct feed *f);

#endif
