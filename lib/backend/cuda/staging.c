/*
 * Staging buffers: pinned memory through which pageable host memory is copied,
 * so that sending it needs no wait.  The slots are used in turn.  Before a slot
 * is written again, the copy that read it must be done.
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

struct cuda_staging {
	pthread_mutex_t lock;
	char *at;			/* [SLOTS][SLOT] */
	struct gpu_event *sent[SLOTS];
	int used[SLOTS];		/* sent records a copy from it */
	int next;
};

struct cuda_staging *
staging_new(struct cuda *c)
{
	struct cuda_staging *s = xcalloc(1, sizeof(*s));
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
staging_free(struct cuda *c, struct cuda_staging *s)
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

/* ---- copies ---- */

/* Return the next slot, after the copy that read it. */
static int
cuda_staging_take(struct cuda *c, struct cuda_staging *s)
{
	int i = s->next;

	s->next = (i + 1) % SLOTS;
	if (s->used[i] && c->driver->call->wait_event(c->driver,
	    s->sent[i]) != 0)
		cuda_wait(c);		/* report the error and exit */
	s->used[i] = 0;
	return i;
}

void
cuda_send(struct cuda *c, void *to, const void *host, size_t bytes)
{
	struct cuda_staging *s = c->staging;
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
	c->driver->call->copy(c->driver, c->stream, host, from, bytes);
	cuda_wait(c);
}
