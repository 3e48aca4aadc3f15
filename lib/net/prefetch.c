/* Prefetch of pixels to a discrete device. */
#include "net/prefetch.h"

int
prefetch_open(struct prefetch *a, struct device *d, size_t bytes)
{
	*a = (struct prefetch){ .device = d };
	if ((a->buffer = device_alloc(d, bytes)) == NULL)
		return -1;
	if ((a->side_stream = device_side_stream(d)) == NULL) {
		prefetch_close(a);
		return -1;
	}
	a->uploaded = device_event_new(a->side_stream, 1);
	a->taken = device_event_new(d, 1);
	return 0;
}

void
prefetch_close(struct prefetch *a)
{
	if (a->device == NULL)
		return;
	device_event_free(a->side_stream, a->uploaded);
	device_event_free(a->device, a->taken);
	device_side_stream_free(a->device, a->side_stream);
	device_free(a->device, a->buffer);
	*a = (struct prefetch){ 0 };
}

void
prefetch_send(struct prefetch *a, const struct staging_buffer *t,
    const struct stream *stream, uint64_t load)
{
	if (a->side_stream == NULL || t == NULL ||
	    (a->source == stream[0].bytes && a->load == load))
		return;
	/* The last pixels must be copied before they are overwritten. */
	if (a->used)
		device_event_follow(a->side_stream, a->taken, 0);
	staging_buffer_prefetch(t, a->side_stream, a->buffer, stream);
	/* Element 0 stands for the whole buffer. */
	device_event_record(a->side_stream, a->uploaded, 0);
	a->source = stream[0].bytes;
	a->load = load;
	a->sent = 1;
}

const void *
prefetch_take(struct prefetch *a, const struct feed *f)
{
	if (a == NULL || a->source == NULL || a->source != f->stream[0].bytes)
		return NULL;
	/* The pixels serve one pass. */
	a->source = NULL;
	device_event_follow(a->device, a->uploaded, 0);
	return a->buffer;
}

void
prefetch_taken(struct prefetch *a)
{
	device_event_record(a->device, a->taken, 0);
	a->used = 1;
}

void
prefetch_wait(struct prefetch *a)
{
	if (a->sent)
		device_event_wait(a->side_stream, a->uploaded, 0);
}

void
prefetch_drop(struct prefetch *a)
{
	prefetch_wait(a);
	a->source = NULL;
}
