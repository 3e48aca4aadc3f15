/* Memory, copies and events of back ends that work on host memory. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backend/host.h"
#include "base/fail.h"
#include "base/huge.h"
#include "base/mem.h"

static void *
host_alloc(struct device *d, size_t bytes)
{
	void *p = huge_alloc(bytes);

	(void)d;
	if (p == NULL)
		return fail_null("out of memory: %zu bytes wanted", bytes);
	/*
	 * device_alloc returns zeros.  This takes the page faults before the
	 * first step.
	 */
	memset(p, 0, bytes);
	return p;
}

static size_t
host_available(struct device *d)
{
	(void)d;
	return SIZE_MAX;
}

static void *
host_alloc_host(struct device *d, size_t bytes)
{
	void *p = malloc(bytes > 0 ? bytes : 1);

	(void)d;
	return p != NULL ? p : fail_null("out of memory: %zu bytes wanted",
	    bytes);
}

static void
host_free(struct device *d, void *p)
{
	(void)d;
	free(p);
}


static void
host_put(struct device *d, void *w, const double *host, size_t n)
{
	if (d->elem == sizeof(double))
		memmove(w, host, n * sizeof(double));
	else
		for (size_t i = 0; i < n; i++)
			((float *)w)[i] = (float)host[i];
}

static void
host_get(struct device *d, double *host, const void *w, size_t n)
{
	if (d->elem == sizeof(double))
		memmove(host, w, n * sizeof(double));
	else
		for (size_t i = 0; i < n; i++)
			host[i] = ((const float *)w)[i];
}

static void
host_copy(struct device *d, void *to, const void *from, size_t bytes)
{
	(void)d;
	memmove(to, from, bytes);
}

const struct memory_ops host_memory = {
	.alloc = host_alloc, .free = host_free, .available = host_available,
	.alloc_host = host_alloc_host, .free_host = host_free,
	.put = host_put, .get = host_get, .upload = host_copy,
	.download = host_copy, .copy = host_copy, .upload_async = host_copy,
};


struct event {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	size_t from;			/* first final gradient */
};

static struct event *
host_event_create(struct device *d, size_t step)
{
	struct event *e = xcalloc(1, sizeof(*e));

	(void)d, (void)step;
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->moved, NULL);
	/* No gradient is final yet. */
	e->from = SIZE_MAX;
	return e;
}

static void
host_event_free(struct event *e)
{
	pthread_mutex_destroy(&e->lock);
	pthread_cond_destroy(&e->moved);
	free(e);
}

static void
host_event_record(struct device *d, struct event *e, size_t from)
{
	(void)d;
	pthread_mutex_lock(&e->lock);
	e->from = from;
	pthread_cond_broadcast(&e->moved);
	pthread_mutex_unlock(&e->lock);
}

static void
host_event_wait(struct event *e, size_t from)
{
	pthread_mutex_lock(&e->lock);
	while (e->from > from)
		pthread_cond_wait(&e->moved, &e->lock);
	pthread_mutex_unlock(&e->lock);
}

static void
host_event_follow(struct device *d, struct event *e, size_t from)
{
	(void)d;
	/* All later work runs on the host, so the host has to wait. */
	host_event_wait(e, from);
}

const struct event_ops host_event = {
	.create = host_event_create, .free = host_event_free,
	.record = host_event_record, .wait = host_event_wait,
	.follow = host_event_follow,
};
