#ifndef NET_AHEAD_H
#define NET_AHEAD_H

/*
 * Prefetch of pixels to a discrete device, while it works on the microbatch
 * before: an asynchronous upload from pinned host memory to a prefetch buffer
 * in device memory.  The next pass copies them from there to its staging buffer
 * and resizes raw clips (media/raw.h).  The prefetch buffer is then free for
 * the next pixels.  Uploads and passes wait for each other on the device.  The
 * host waits only before it reuses its pinned memory (ahead_wait), when the
 * upload is normally done.
 */

#include "backend/tray.h"

struct ahead {
	struct device *device;
	struct device *beside;		/* side stream, or NULL if not open */
	char *at;			/* prefetch buffer, device memory */
	struct event *landed, *taken;	/* upload done; pixels copied */
	/*
	 * Host address of the first stream of the prefetched pixels; NULL if
	 * they were taken.
	 */
	const uint8_t *of;
	uint64_t load;			/* content number of these pixels */
	int sent, used;			/* 1 once sent; once taken */
};

/*
 * ahead_open(a, d, bytes):
 * Allocate a prefetch buffer of ${bytes} on ${d}, and a side stream.  Return 0,
 * or -1 after a message.
 *
 * ahead_close(a):
 * Free them.  Do nothing if ${a} is zeroed or closed.
 */
int ahead_open(struct ahead *a, struct device *d, size_t bytes);
void ahead_close(struct ahead *a);

/*
 * ahead_send(a, t, stream, load):
 * Start the upload of ${stream} for the staging buffer ${t}.  It waits on the
 * device until the last pixels were taken.  The caller must not change
 * ${stream} until ahead_wait returns.  ${load} numbers its content.  Do nothing
 * if the same pixels were sent already and not taken, if ${a} is not open, or
 * if ${t} is NULL.
 */
void ahead_send(struct ahead *a, const struct tray *t,
    const struct stream *stream, uint64_t load);

/*
 * ahead_take(a, f):
 * Return the device address of the prefetched pixels of ${f}, and let later
 * work of the device wait for their upload.  Return NULL if they were not sent
 * or ${a} is NULL.
 *
 * ahead_taken(a):
 * Tell ${a} that the copies from the prefetch buffer are submitted, so that it
 * may be overwritten after them.
 */
const void *ahead_take(struct ahead *a, const struct feed *f);
void ahead_taken(struct ahead *a);

/*
 * ahead_wait(a):
 * Wait until the device has read the last upload from host memory.
 */
void ahead_wait(struct ahead *a);

/*
 * ahead_drop(a):
 * Wait for the last upload and forget it, so that the caller may free its host
 * memory.  Do nothing if ${a} is not open.
 */
void ahead_drop(struct ahead *a);

#endif
