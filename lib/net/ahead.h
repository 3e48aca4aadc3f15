#ifndef NET_AHEAD_H
#define NET_AHEAD_H

/*
 * Pixels on their way to a device that is apart, while it works on those of the
 * microbatch before: from memory of the host's that copies are fast with, into a
 * landing beside the arena.  The next pass takes them from there into its tray,
 * resized if they are raw (media/raw.h), and the landing is free for those after
 * them.  So there are two places in turn, and copies and passes wait for one
 * another on the device; the host waits only before it gives such memory other
 * pixels (ahead_wait), which is late enough to be no wait.
 */

#include "backend/tray.h"

struct ahead {
	struct device *device;
	struct device *beside;		/* what copies are asked of; NULL: it is
					 * not open */
	char *at;			/* the landing */
	struct event *landed, *taken;
	const uint8_t *of;		/* whose pixels are in it: of the first
					 * stream; NULL: they were taken */
	uint64_t load;			/* and which there were then */
	int sent, used;			/* something was sent; was taken */
};

/* ahead_open(a, d, bytes): a landing of so many.  0, or -1 after a message;
 * ahead_close is fine where it is not open. */
int ahead_open(struct ahead *a, struct device *d, size_t bytes);
void ahead_close(struct ahead *a);

/*
 * ahead_send(a, t, stream, load): what is to be brought to tray ${t}, soon.  It
 * must stay as it is until ahead_wait; ${load} is a number of what is there now.
 * Nothing is done where it is not open, and nothing twice: what was sent before
 * and is still that is on its way.
 */
void ahead_send(struct ahead *a, const struct tray *t,
    const struct stream *stream, uint64_t load);

/*
 * ahead_take(a, f): where the pixels of ${f} have landed, for what the device is
 * asked for from now on; NULL: they were not sent.  ahead_taken(a): the device has
 * been asked to take them.
 */
const void *ahead_take(struct ahead *a, const struct feed *f);
void ahead_taken(struct ahead *a);

/* ahead_wait(a): until what was sent last is no more read. */
void ahead_wait(struct ahead *a);

/* ahead_drop(a): wait for the last upload and forget it: its host memory may be
 * freed.  Do nothing if ${a} is not open. */
void ahead_drop(struct ahead *a);

#endif
