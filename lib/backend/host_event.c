/* Events of devices that work while they are called. */
#include <pthread.h>
#include <stdlib.h>

#include "backend/backend.h"
#include "base/mem.h"

struct event {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	size_t from;
};

struct event *
host_event_new(struct device *d)
{
	struct event *e = xcalloc(1, sizeof(*e));

	(void)d;
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->moved, NULL);
	e->from = SIZE_MAX;
	return e;
}

void
host_event_free(struct event *e)
{
	pthread_mutex_destroy(&e->lock);
	pthread_cond_destroy(&e->moved);
	free(e);
}

void
host_event_record(struct device *d, struct event *e, size_t from)
{
	(void)d;
	pthread_mutex_lock(&e->lock);
	e->from = from;
	pthread_cond_broadcast(&e->moved);
	pthread_mutex_unlock(&e->lock);
}

void
host_event_wait(struct event *e, size_t from)
{
	pthread_mutex_lock(&e->lock);
	while (e->from > from)
		pthread_cond_wait(&e->moved, &e->lock);
	pthread_mutex_unlock(&e->lock);
}
