/* The staging buffer: device memory that holds the input of one microbatch. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tray.h"
#include "base/mem.h"
#include "base/number.h"

enum { ALIGN = 256 };			/* bytes, of each stream: for vector
					 * loads */

/* Offsets of a target's arrays from small_at. */
struct tray_places { size_t label, share, weight; };

/*
 * Layout on the device: the streams, then from small_at: struct feed_values,
 * clip numbers, targets, and last the outcomes, which only the device writes.
 * ${clip} and ${outcome} are offsets from small_at.
 */
struct tray {
	struct device *device;
	int n, streams, targets, heads;
	size_t *stream_at, *stream_bytes;	/* [streams] */
	struct tray_places *places;		/* [targets] */
	size_t *raw;			/* [n + 1] offsets of raw clips in the
					 * prefetch buffer */
	size_t small_at, clip, outcome, bytes;
	char *small;			/* [outcome] host copy, uploaded at
					 * once */
	struct stream *stream;		/* [streams] and [targets], device
					 * pointers */
	struct target *target;
	struct feed feed;
};

static void
tray_place_streams(struct tray *t, const struct dims *input)
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
tray_place_small(struct tray *t, const struct needs *needs)
{
	size_t n = (size_t)t->n, at = sizeof(struct feed_values);

	t->clip = at;
	at += n * sizeof(uint64_t);
	for (int i = 0; i < t->targets; i++) {
		struct tray_places *p = &t->places[i];

		p->label = at;
		at += n * sizeof(int);
		p->weight = at;
		at += n * sizeof(float);
		p->share = at;
		at += n * (size_t)needs->target[i].classes * sizeof(float);
	}
	t->outcome = round_up(at, sizeof(double));
	t->bytes = t->small_at + t->outcome + (size_t)t->heads *
	    sizeof(struct outcome);
}

struct tray *
tray_new(struct device *d, const struct needs *needs, const struct dims *input,
    int heads)
{
	struct tray *t;

	if (!d->backend->apart)
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
	t->places = xcalloc((size_t)t->targets, sizeof(*t->places));
	t->raw = xcalloc((size_t)t->n + 1, sizeof(*t->raw));
	t->target = xcalloc((size_t)t->targets, sizeof(*t->target));
	tray_place_streams(t, input);
	tray_place_small(t, needs);
	t->small = xcalloc(t->outcome, 1);
	return t;
}

void
tray_free(struct tray *t)
{
	if (t == NULL)
		return;
	free(t->stream_at);
	free(t->stream_bytes);
	free(t->stream);
	free(t->places);
	free(t->raw);
	free(t->target);
	free(t->small);
	free(t);
}

size_t
tray_bytes(const struct tray *t)
{
	return t == NULL ? 0 : t->bytes;
}

/*
 * Write ${bytes} at offset ${place} of the host copy.  Return their device
 * address, or NULL if ${from} is NULL.
 */
static void *
tray_put(struct tray *t, char *at, size_t place, const void *from, size_t bytes)
{
	if (from == NULL)
		return NULL;
	memcpy(t->small + place, from, bytes);
	return at + place;
}

/* Write target ${i} to the host copy, and make the device's view of it. */
static void
tray_put_target(struct tray *t, char *at, int i, const struct target *from)
{
	size_t n = (size_t)t->n;
	const struct tray_places *p = &t->places[i];
	int is_class = from->kind == TARGET_CLASS;

	t->target[i] = (struct target){ .kind = from->kind,
		.classes = from->classes,
		.label = tray_put(t, at, p->label,
		is_class ? from->label : NULL,
		    n * sizeof(int)),
		.share = tray_put(t, at, p->share,
		is_class ? NULL : from->share,
		    n * (size_t)from->classes * sizeof(float)),
		.weight = tray_put(t, at, p->weight, from->weight, n *
		    sizeof(float)) };
}

size_t
tray_ahead(const struct tray *t)
{
	return t == NULL ? 0 : t->small_at;
}

/* Upload the clips of a raw stream without gaps.  Return their bytes. */
static size_t
tray_send_raw(const struct tray *t, struct device *d, char *to,
    const struct stream *s)
{
	size_t at = 0;

	for (int i = 0; i < t->n; i++) {
		device_bring(d, to + at, s->bytes + (size_t)i * s->raw->each,
		    s->raw->used[i]);
		at += s->raw->used[i];
	}
	return at;
}

void
tray_send(const struct tray *t, struct device *d, void *to,
    const struct stream *stream)
{
	char *at = to;

	for (int i = 0; i < t->streams; i++) {
		size_t bytes = t->stream_bytes[i];

		if (stream[i].raw != NULL)
			bytes = tray_send_raw(t, d, at, &stream[i]);
		else
			device_bring(d, at, stream[i].bytes, bytes);
		at += round_up(bytes, ALIGN);
	}
}

/* Return the bytes of the stream in the prefetch buffer. */
static size_t
tray_resize_raw(struct tray *t, uint8_t *to, const char *landed,
    const struct stream *s)
{
	for (int i = 0; i < t->n; i++)
		t->raw[i + 1] = t->raw[i] + s->raw->used[i];
	device_resize(t->device, to, (const uint8_t *)landed, t->raw, t->n,
	    s->t, s->w);
	return t->raw[t->n];
}

/*
 * Fill the pixels of the staging buffer, from the prefetch buffer or from the
 * host.
 */
static void
tray_bring_streams(struct tray *t, char *at, const char *landed,
    const struct feed *f)
{
	int raw = 0;

	for (int i = 0; i < t->streams; i++) {
		t->stream[i] = f->stream[i];
		t->stream[i].bytes = (uint8_t *)at + t->stream_at[i];
		t->stream[i].raw = NULL;
		raw |= f->stream[i].raw != NULL;
		if (landed == NULL && f->stream[i].bytes != NULL)
			device_upload(t->device, t->stream[i].bytes,
			    f->stream[i].bytes, t->stream_bytes[i]);
	}
	assert(!raw || landed != NULL);
	if (landed != NULL && !raw)
		device_copy(t->device, at, landed, t->small_at);
	for (int i = 0; i < t->streams && raw; i++) {
		size_t bytes = t->stream_bytes[i];

		if (f->stream[i].raw != NULL)
			bytes = tray_resize_raw(t, t->stream[i].bytes, landed,
			    &f->stream[i]);
		else
			device_copy(t->device, t->stream[i].bytes, landed,
			    bytes);
		landed += round_up(bytes, ALIGN);
	}
}

const struct feed *
tray_bring(struct tray *t, void *to, const void *landed, const struct feed *f,
    const struct feed_values **values)
{
	const struct feed_values now = { f->seed, feed_scale(f) };
	char *at = to;

	*values = NULL;
	if (t == NULL)
		return f;
	tray_bring_streams(t, at, landed, f);
	at += t->small_at;
	*values = tray_put(t, at, 0, &now, sizeof(now));
	t->feed = (struct feed){ .stream = t->stream, .target = t->target,
		.clip = tray_put(t, at, t->clip, f->clip, (size_t)t->n *
		    sizeof(uint64_t)),
		.seed = f->seed, .scale = f->scale,
		.outcome = f->outcome == NULL ? NULL :
		    (struct outcome *)(at + t->outcome) };
	for (int i = 0; i < t->targets; i++)
		if (f->target != NULL)
			tray_put_target(t, at, i, &f->target[i]);
	device_upload(t->device, at, t->small, t->outcome);
	return &t->feed;
}

uint64_t
tray_form(const struct tray *t, const struct feed *f)
{
	uint64_t form = f->outcome != NULL;

	/* 1 bit for the outcome and 3 for each target must fit. */
	assert(t->targets <= 20);
	for (int i = 0; i < t->targets && f->target != NULL; i++)
		form = form << 3 | (uint64_t)f->target[i].kind << 1 |
		    (f->target[i].weight != NULL);
	return form;
}

void
tray_return(const struct tray *t, const struct feed *f)
{
	if (t != NULL && f->outcome != NULL)
		device_copy(t->device, f->outcome, t->feed.outcome,
		    (size_t)t->heads * sizeof(*f->outcome));
}
