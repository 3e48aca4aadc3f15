/* Parallel work with ordered results, in a window of limited size. */
#include <pthread.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/ordered.h"

struct ordered {
	void (*work)(size_t i, int thread, void *arg);
	void *arg;
	pthread_t *thread;
	int threads, caller;		/* caller: 1: it is thread 0 */
	size_t n, window;

	pthread_mutex_t lock;		/* protects the fields below */
	pthread_cond_t moved;
	int numbered;			/* threads that have a number */
	char *ready;			/* [window] result i at i % window */
	size_t begun, next;		/* the caller has or awaits next */
	int given, stop;		/* given: the caller has next */
};

/*
 * Work on the first number that has not begun, or wait if it is outside the
 * window.  The caller holds the lock; it is released during the work and the
 * wait.
 */
static void
ordered_work_or_wait(struct ordered *o, int thread)
{
	size_t i = o->begun;

	if (i == o->n || i - o->next >= o->window) {
		pthread_cond_wait(&o->moved, &o->lock);
		return;
	}
	o->begun++;
	pthread_mutex_unlock(&o->lock);
	o->work(i, thread, o->arg);
	pthread_mutex_lock(&o->lock);
	o->ready[i % o->window] = 1;
	pthread_cond_broadcast(&o->moved);
}

static void *
ordered_thread(void *arg)
{
	struct ordered *o = arg;
	int thread;

	pthread_mutex_lock(&o->lock);
	thread = o->numbered++;
	while (!o->stop && o->begun < o->n)
		ordered_work_or_wait(o, thread);
	pthread_mutex_unlock(&o->lock);
	return NULL;
}

int
ordered_next(struct ordered *o, size_t *i)
{
	pthread_mutex_lock(&o->lock);
	if (o->given) {
		o->ready[o->next++ % o->window] = 0;
		pthread_cond_broadcast(&o->moved);
	}
	while (o->next < o->n && !o->ready[o->next % o->window])
		if (o->caller)
			ordered_work_or_wait(o, 0);
		else
			pthread_cond_wait(&o->moved, &o->lock);
	o->given = o->next < o->n;
	*i = o->next;
	pthread_mutex_unlock(&o->lock);
	return o->given;
}

void
ordered_free(struct ordered *o)
{
	if (o == NULL)
		return;
	pthread_mutex_lock(&o->lock);
	o->stop = 1;
	pthread_cond_broadcast(&o->moved);
	pthread_mutex_unlock(&o->lock);
	for (int t = o->caller; t < o->threads; t++)
		pthread_join(o->thread[t], NULL);
	pthread_mutex_destroy(&o->lock);
	pthread_cond_destroy(&o->moved);
	free(o->thread);
	free(o->ready);
	free(o);
}

struct ordered *
ordered_new(size_t n, int threads, int caller, size_t window,
    void (*work)(size_t i, int thread, void *arg), void *arg)
{
	struct ordered *o = xcalloc(1, sizeof(*o));

	o->work = work;
	o->arg = arg;
	o->n = n;
	o->window = window;
	o->caller = o->numbered = caller;
	o->threads = (size_t)threads > n ? (int)n : threads;
	o->ready = xcalloc(window, 1);
	o->thread = xcalloc((size_t)o->threads, sizeof(*o->thread));
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->moved, NULL);
	for (int t = caller; t < o->threads; t++)
		if (pthread_create(&o->thread[t], NULL, ordered_thread, o) != 0)
			die(EXIT_FAILED, "cannot start thread %d of %d", t + 1,
			    o->threads);
	return o;
}
