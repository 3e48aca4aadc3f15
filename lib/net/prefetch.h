#ifndef NET_PREFETCH_H
#define NET_PREFETCH_H

/*
 * Prefetch of pixels to a discrete device, while it works on the microbatch
 * before: an asynchronous upload from pinned host memory to a prefetch buffer
 * in device memory.  The next pass copies them from there to its staging
 * buffer.  The prefetch buffer is then free for the next pixels.  Uploads and
 * passes wait for each other on the device.  The host waits only before it
 * reuses its pinned memory (prefetch_wait), when the upload is normally done.
 */

#include "backend/staging_buffer.h"

struct prefetch {
	struct device *device;
	struct device *side_stream;	/* side stream, or NULL if not open */
	char *buffer;			/* prefetch buffer, device memory */
	struct event *uploaded, *taken;	/* upload done; pixels copied */
	/*
	 * Host address of the first stream of the prefetched pixels; NULL if
	 * they were taken.
	 */
	const uint8_t *source;
	uint64_t load;			/* content number of these pixels */
	int sent, used;			/* 1 once sent; once taken */
};

/*
 * prefetch_open(a, d, bytes):
 * Allocate a prefetch buffer of ${bytes} on ${d}, and a side stream.  Return 0,
 * or -1 after a message.
 *
 * prefetch_close(a):
 * Free them.  Do nothing if ${a} is zeroed or closed.
 */
int prefetch_open(struct prefetch *a, struct device *d, size_t bytes);
void prefetch_close(struct prefetch *a);

/*
 * prefetch_send(a, t, stream, load):
 * Start the upload of ${stream} for the staging buffer ${t}.  It waits on the
 * device until the last pixels were taken.  The caller must not change
 * ${stream} until prefetch_wait returns. ${load} numbers its content. Do
 * nothing if the same pixels were sent already and not taken, if ${a} is not
 * open, or if ${t} is NULL.
 */
void prefetch_send(struct prefetch *a, const struct staging_buffer *t,
    const struct stream *stream, uint64_t load);

/*
 * prefetch_take(a, f):
 * Return the device address of the prefetched pixels of ${f}, and let later
 * work of the device wait for their upload.  Return NULL if they were not sent
 * or ${a} is NULL.
 *
 * prefetch_taken(a):
 * Tell ${a} that the copies from the prefetch buffer are submitted, so that it
 * may be overwritten after them.
 */
const void *prefetch_take(struct prefetch *a, const struct feed *f);
void prefetch_taken(struct prefetch *a);

/*
 * prefetch_wait(a):
 * Wait until the device has read the last upload from host memory.
 */
void prefetch_wait(struct prefetch *a);

/*
 * prefetch_drop(a):
 * Wait for the last upload and forget it, so that the caller may free its host
 * memory.  Do nothing if ${a} is not open.
 */
void prefetch_drop(struct prefetch *a);

#endif
