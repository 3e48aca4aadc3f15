/* Work in any order, results in order. */
#include <pthread.h>
#include <stdlib.h>

#include "base/inorder.h"
#include "base/mem.h"

struct in_order_run {
	pthread_mutex_t lock;
	pthread_cond_t moved;		/* next has */
	void (*work)(int i, int thread, void *arg);
	int (*done)(int i, void *arg);
	void *arg;
	char *ready;			/* [n] work has returned */
	int n, window;
	int next;			/* the one to be done next */
	int doing;			/* a thread is at it */
	int result;
};

/* With the lock: do what is ready, unless another thread does. */
static void
in_order_catch_up(struct in_order_run *r)
{
	if (r->doing)
		return;
	r->doing = 1;
	while (r->result == 0 && r->next < r->n && r->ready[r->next]) {
		int result;

		pthread_mutex_unlock(&r->lock);
		result = r->done(r->next, r->arg);
		pthread_mutex_lock(&r->lock);
		r->result = result;
		r->next++;
		pthread_cond_broadcast(&r->moved);
	}
	r->doing = 0;
}

static void
in_order_item(int i, int thread, void *arg)
{
	struct in_order_run *r = arg;
	int stop;

	pthread_mutex_lock(&r->lock);
	while (r->result == 0 && i - r->next >= r->window)
		pthread_cond_wait(&r->moved, &r->lock);
	stop = r->result != 0;
	pthread_mutex_unlock(&r->lock);
	if (stop)
		return;
	r->work(i, thread, r->arg);
	pthread_mutex_lock(&r->lock);
	r->ready[i] = 1;
	in_order_catch_up(r);
	pthread_mutex_unlock(&r->lock);
}

int
in_order(struct pool *p, int n, int window,
    void (*work)(int i, int thread, void *arg), int (*done)(int i, void *arg),
    void *arg)
{
	struct in_order_run r = { .work = work, .done = done, .arg = arg,
	    .n = n,
		.window = window };

	pthread_mutex_init(&r.lock, NULL);
	pthread_cond_init(&r.moved, NULL);
	r.ready = xcalloc((size_t)n, 1);
	pool_run(p, n, in_order_item, &r);
	pthread_mutex_destroy(&r.lock);
	pthread_cond_destroy(&r.moved);
	free(r.ready);
	return r.result;
}
