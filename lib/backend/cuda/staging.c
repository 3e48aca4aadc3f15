/*
 * Staging buffers: pinned memory through which pageable host memory is copied,
 * so that sending it needs no wait.  The slots are used in turn.  Before a slot
 * is written again, the copy that read it must be done.
 *
 * Also a table of the memory from cuda_pin, which copies to the host use
 * directly.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "base/fail.h"
#include "base/mem.h"

/*
 * 16 slots of 1 MiB.  A batch of 8 clips of 8 frames at 224 pixels is 9.6 MB,
 * so it and the data sent with it need no wait.
 */
enum { SLOTS = 16, SLOT = 1 << 20 };

struct staging {
	pthread_mutex_t lock;
	char *at;			/* [SLOTS][SLOT] */
	struct gpu_event *sent[SLOTS];
	int used[SLOTS];		/* sent records a copy from it */
	int next;
};

struct staging *
staging_new(struct cuda *c)
{
	struct staging *s = xcalloc(1, sizeof(*s));
	struct driver *d = c->driver;

	pthread_mutex_init(&s->lock, NULL);
	if ((s->at = d->call->alloc_host(d, (size_t)SLOTS * SLOT)) == NULL)
		goto err0;
	for (int i = 0; i < SLOTS; i++)
		if ((s->sent[i] = d->call->event_new(d)) == NULL)
			goto err0;
	return s;
err0:
	staging_free(c, s);
	return NULL;
}

void
staging_free(struct cuda *c, struct staging *s)
{
	struct driver *d = c->driver;

	if (s == NULL)
		return;
	for (int i = 0; i < SLOTS; i++)
		if (s->sent[i] != NULL)
			d->call->event_free(d, s->sent[i]);
	if (s->at != NULL)
		d->call->free_host(d, s->at);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* ---- the table of pinned memory ---- */

struct pins {
	pthread_mutex_t lock;
	struct span *span;
	size_t n, cap;
};

struct pins *
pins_new(void)
{
	struct pins *p = xcalloc(1, sizeof(*p));

	pthread_mutex_init(&p->lock, NULL);
	return p;
}

void
pins_free(struct pins *p)
{
	if (p == NULL)
		return;
	pthread_mutex_destroy(&p->lock);
	free(p->span);
	free(p);
}

void *
cuda_pin(struct cuda *c, size_t bytes)
{
	struct pins *s = c->pins;
	void *p = c->driver->call->alloc_host(c->driver, bytes);

	if (p == NULL)
		return NULL;
	pthread_mutex_lock(&s->lock);
	if (s->n == s->cap) {
		s->cap = s->cap > 0 ? 2 * s->cap : 16;
		s->span = xrealloc(s->span, s->cap, sizeof(*s->span));
	}
	s->span[s->n++] = (struct span){ p, bytes };
	pthread_mutex_unlock(&s->lock);
	return p;
}

void
cuda_unpin(struct cuda *c, void *p)
{
	struct pins *s = c->pins;
	size_t i = 0;

	pthread_mutex_lock(&s->lock);
	while (i < s->n && s->span[i].at != p)
		i++;
	if (i < s->n)
		s->span[i] = s->span[--s->n];
	pthread_mutex_unlock(&s->lock);
	c->driver->call->free_host(c->driver, p);
}

static int
cuda_staging_pins_have(struct pins *s, const char *at, size_t bytes)
{
	int found = 0;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->n && !found; i++)
		found = at >= (const char *)s->span[i].at && at + bytes <=
		    (const char *)s->span[i].at + s->span[i].bytes;
	pthread_mutex_unlock(&s->lock);
	return found;
}

/* ---- copies ---- */

/* Return the next slot, after the copy that read it. */
static int
cuda_staging_take(struct cuda *c, struct staging *s)
{
	int i = s->next;

	s->next = (i + 1) % SLOTS;
	if (s->used[i] && c->driver->call->wait_event(c->driver, s->sent[i]) != 0)
		cuda_wait(c);		/* report the error and exit */
	s->used[i] = 0;
	return i;
}

void
cuda_send(struct cuda *c, void *to, const void *host, size_t bytes)
{
	struct staging *s = c->staging;
	struct driver *d = c->driver;

	if (c->capturing != NULL)
		die(1, "cuda: host memory is sent during a graph capture: the "
		    "graph would copy later contents");
	pthread_mutex_lock(&s->lock);
	for (size_t at = 0; at < bytes; at += SLOT) {
		size_t now = bytes - at < SLOT ? bytes - at : SLOT;
		int i = cuda_staging_take(c, s);
		char *slot = s->at + (size_t)i * SLOT;

		memcpy(slot, (const char *)host + at, now);
		d->call->copy(d, c->stream, (char *)to + at, slot, now);
		d->call->record(d, s->sent[i], c->stream);
		s->used[i] = 1;
	}
	pthread_mutex_unlock(&s->lock);
}

void
cuda_receive(struct cuda *c, void *host, const void *from, size_t bytes)
{
	enum { ALL = SLOTS * SLOT };
	struct staging *s = c->staging;
	struct driver *d = c->driver;

	if (cuda_staging_pins_have(c->pins, host, bytes)) {
		d->call->copy(d, c->stream, host, from, bytes);
		cuda_wait(c);
		return;
	}
	pthread_mutex_lock(&s->lock);
	for (size_t at = 0; at < bytes; at += ALL) {
		size_t now = bytes - at < ALL ? bytes - at : ALL;

		/*
		 * The stream orders this after pending sends from the same
		 * slots.
		 */
		d->call->copy(d, c->stream, s->at, (const char *)from + at, now);
		cuda_wait(c);
		memcpy((char *)host + at, s->at, now);
	}
	pthread_mutex_unlock(&s->lock);
}
