/* The staging buffer: device memory that holds the input of one microbatch. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "backend/staging_buffer.h"
#include "base/mem.h"
#include "base/number.h"

enum { ALIGN = 256 };			/* bytes, of each stream: for vector
					 * loads */

/* Offsets of a target's arrays from small_at. */
struct staging_offsets { size_t label, share, weight, class_weight; };

/*
 * Layout on the device: the streams, then from small_at: struct feed_values,
 * clip numbers, targets, and last the outcomes, which only the device writes.
 * ${clip} and ${outcome} are offsets from small_at.
 */
struct staging_buffer {
	struct device *device;
	int n, streams, targets, heads;
	size_t *stream_at, *stream_bytes;	/* [streams] */
	struct staging_offsets *positions;		/* [targets] */
	size_t small_at, clip, outcome, bytes;
	char *small;			/* [outcome] host copy, uploaded at
					 * once */
	struct stream *stream;		/* [streams] and [targets], device
					 * pointers */
	struct target *target;
	struct feed feed;
};

static void
staging_buffer_place_streams(struct staging_buffer *t, const struct dims *input)
{
	size_t at = 0;

	for (int i = 0; i < t->streams; i++) {
		t->stream_bytes[i] = dims_count(&input[i]);
		t->stream_at[i] = at;
		at += round_up(t->stream_bytes[i], ALIGN);
	}
	t->small_at = at;
}

/*
 * Set the offsets of all data but the pixels.  A target has room for labels and
 * for soft labels, since either may come.
 */
static void
staging_buffer_place_small(struct staging_buffer *t,
    const struct input_spec *needs)
{
	size_t n = (size_t)t->n, at = sizeof(struct feed_values);

	t->clip = at;
	at += n * sizeof(uint64_t);
	for (int i = 0; i < t->targets; i++) {
		struct staging_offsets *p = &t->positions[i];

		p->label = at;
		at += n * sizeof(int);
		p->weight = at;
		at += n * sizeof(float);
		p->class_weight = at;
		at += (size_t)needs->target[i].classes * sizeof(float);
		p->share = at;
		at += n * (size_t)needs->target[i].classes * sizeof(float);
	}
	t->outcome = round_up(at, sizeof(double));
	t->bytes = t->small_at + t->outcome + (size_t)t->heads *
	    sizeof(struct outcome);
}

struct staging_buffer *
staging_buffer_new(struct device *d, const struct input_spec *needs,
    const struct dims *input, int heads)
{
	struct staging_buffer *t;

	if (!d->backend->discrete)
		return NULL;
	t = xcalloc(1, sizeof(*t));
	t->device = d;
	t->n = input[0].n;
	t->streams = needs->streams;
	t->targets = needs->targets;
	t->heads = heads;
	t->stream_at = xcalloc((size_t)t->streams, sizeof(size_t));
	t->stream_bytes = xcalloc((size_t)t->streams, sizeof(size_t));
	t->stream = xcalloc((size_t)t->streams, sizeof(*t->stream));
	t->positions = xcalloc((size_t)t->targets, sizeof(*t->positions));
	t->target = xcalloc((size_t)t->targets, sizeof(*t->target));
	staging_buffer_place_streams(t, input);
	staging_buffer_place_small(t, needs);
	t->small = xcalloc(t->outcome, 1);
	return t;
}

void
staging_buffer_free(struct staging_buffer *t)
{
	if (t == NULL)
		return;
	free(t->stream_at);
	free(t->stream_bytes);
	free(t->stream);
	free(t->positions);
	free(t->target);
	free(t->small);
	free(t);
}

size_t
staging_buffer_bytes(const struct staging_buffer *t)
{
	return t == NULL ? 0 : t->bytes;
}

/*
 * Write ${bytes} at offset ${place} of the host copy.  Return their device
 * address, or NULL if ${from} is NULL.
 */
static void *
staging_buffer_put(struct staging_buffer *t, char *at, size_t place,
const void *from, size_t bytes)
{
	if (from == NULL)
		return NULL;
	memcpy(t->small + place, from, bytes);
	return at + place;
}

/* Write target ${i} to the host copy, and make the device's view of it. */
static void
staging_buffer_put_target(struct staging_buffer *t, char *at, int i,
    const struct target *from)
{
	size_t n = (size_t)t->n;
	const struct staging_offsets *p = &t->positions[i];
	int is_class = from->kind == TARGET_CLASS;

	t->target[i] = (struct target){ .kind = from->kind,
		.classes = from->classes,
		.label = staging_buffer_put(t, at, p->label,
		is_class ? from->label : NULL,
		    n * sizeof(int)),
		.soft = staging_buffer_put(t, at, p->share,
		is_class ? NULL : from->soft,
		    n * (size_t)from->classes * sizeof(float)),
		.weight = staging_buffer_put(t, at, p->weight, from->weight, n *
		    sizeof(float)),
		.class_weight = staging_buffer_put(t, at, p->class_weight,
		    from->class_weight, (size_t)from->classes *
		    sizeof(float)) };
}

size_t
staging_buffer_prefetch_bytes(const struct staging_buffer *t)
{
	return t == NULL ? 0 : t->small_at;
}

void
staging_buffer_prefetch(const struct staging_buffer *t, struct device *d,
    void *to, const struct stream *stream)
{
	for (int i = 0; i < t->streams; i++)
		device_upload_async(d, (char *)to + t->stream_at[i],
		    stream[i].bytes, t->stream_bytes[i]);
}

/*
 * Fill the pixels of the staging buffer, from the prefetch buffer or from the
 * host.
 */
static void
staging_buffer_bring_streams(struct staging_buffer *t, char *at,
    const char *uploaded, const struct feed *f)
{
	for (int i = 0; i < t->streams; i++) {
		t->stream[i] = f->stream[i];
		t->stream[i].bytes = (uint8_t *)at + t->stream_at[i];
		if (uploaded == NULL && f->stream[i].bytes != NULL)
			device_upload(t->device, t->stream[i].bytes,
			    f->stream[i].bytes, t->stream_bytes[i]);
	}
	if (uploaded != NULL)
		device_copy(t->device, at, uploaded, t->small_at);
}

const struct feed *
staging_buffer_load(struct staging_buffer *t, void *to, const void *uploaded,
    const struct feed *f, const struct feed_values **values)
{
	const struct feed_values now = { f->seed, feed_scale(f) };
	char *at = to;

	*values = NULL;
	if (t == NULL)
		return f;
	staging_buffer_bring_streams(t, at, uploaded, f);
	at += t->small_at;
	*values = staging_buffer_put(t, at, 0, &now, sizeof(now));
	t->feed = (struct feed){ .stream = t->stream, .target = t->target,
		.clip = staging_buffer_put(t, at, t->clip, f->clip,
		    (size_t)t->n * sizeof(uint64_t)),
		.seed = f->seed, .scale = f->scale,
		.outcome = f->outcome == NULL ? NULL :
		    (struct outcome *)(at + t->outcome) };
	for (int i = 0; i < t->targets; i++)
		if (f->target != NULL)
			staging_buffer_put_target(t, at, i, &f->target[i]);
	device_upload(t->device, at, t->small, t->outcome);
	return &t->feed;
}

uint64_t
staging_buffer_key(const struct staging_buffer *t, const struct feed *f)
{
	uint64_t form = f->outcome != NULL;

	/* 1 bit for the outcome and 4 for each target must fit. */
	assert(t->targets <= 15);
	for (int i = 0; i < t->targets && f->target != NULL; i++)
		form = form << 4 | (uint64_t)f->target[i].kind << 2 |
		    (uint64_t)(f->target[i].class_weight != NULL) << 1 |
		    (f->target[i].weight != NULL);
	return form;
}

void
staging_buffer_return_outcome(const struct staging_buffer *t,
    const struct feed *f)
{
	if (t != NULL && f->outcome != NULL)
		device_copy(t->device, f->outcome, t->feed.outcome,
		    (size_t)t->heads * sizeof(*f->outcome));
}
