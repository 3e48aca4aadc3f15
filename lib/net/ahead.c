/* Prefetch of pixels to a discrete device. */
#include "net/ahead.h"

int
ahead_open(struct ahead *a, struct device *d, size_t bytes)
{
	*a = (struct ahead){ .device = d };
	if ((a->at = device_alloc(d, bytes)) == NULL)
		return -1;
	if ((a->beside = device_aside(d)) == NULL) {
		ahead_close(a);
		return -1;
	}
	a->landed = device_event_new(a->beside);
	a->taken = device_event_new(d);
	return 0;
}

void
ahead_close(struct ahead *a)
{
	if (a->device == NULL)
		return;
	device_event_free(a->beside, a->landed);
	device_event_free(a->device, a->taken);
	device_aside_free(a->device, a->beside);
	device_free(a->device, a->at);
	*a = (struct ahead){ 0 };
}

void
ahead_send(struct ahead *a, const struct tray *t, const struct stream *stream,
    uint64_t load)
{
	if (a->beside == NULL || t == NULL ||
	    (a->of == stream[0].bytes && a->load == load))
		return;
	/* The last pixels must be copied before they are overwritten. */
	if (a->used)
		device_event_follow(a->beside, a->taken, 0);
	tray_send(t, a->beside, a->at, stream);
	/* Element 0 stands for the whole buffer. */
	device_event_record(a->beside, a->landed, 0);
	a->of = stream[0].bytes;
	a->load = load;
	a->sent = 1;
}

const void *
ahead_take(struct ahead *a, const struct feed *f)
{
	if (a == NULL || a->of == NULL || a->of != f->stream[0].bytes)
		return NULL;
	/* The pixels serve one pass. */
	a->of = NULL;
	device_event_follow(a->device, a->landed, 0);
	return a->at;
}

void
ahead_taken(struct ahead *a)
{
	device_event_record(a->device, a->taken, 0);
	a->used = 1;
}

void
ahead_wait(struct ahead *a)
{
	if (a->sent)
		device_event_wait(a->beside, a->landed, 0);
}

void
ahead_drop(struct ahead *a)
{
	ahead_wait(a);
	a->of = NULL;
}
