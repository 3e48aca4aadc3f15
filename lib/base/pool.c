/* Threads that share loops. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/pool.h"

/*
 * A worker that finds nothing to do looks again this often before it sleeps:
 * some microseconds, the length of a small layer.  Longer would take the core
 * from whoever else wants it.
 */
#define LOOKS 2000

struct loop {
	void (*part)(int i, int thread, void *arg);
	void *arg;
	int n;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t wake, idle;
	pthread_t *thread;
	int threads, stop;
	atomic_uint turn;		/* loops begun so far */
	atomic_int next;		/* the next part to take */
	atomic_int busy;		/* workers still inside this loop */
	struct loop loop;
};

struct worker { struct pool *p; int number; };

static void
pause_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static void
take_parts(struct pool *p, int thread)
{
	struct loop *l = &p->loop;
	int i;

	while ((i = atomic_fetch_add(&p->next, 1)) < l->n)
		l->part(i, thread, l->arg);
}

/* Wait until the pool has begun a loop after ${seen}; 0: stop instead. */
static int
wait_turn(struct pool *p, unsigned seen)
{
	int stop;

	for (int i = 0; i < LOOKS; i++) {
		if (atomic_load(&p->turn) != seen)
			break;
		pause_cpu();
	}
	if (atomic_load(&p->turn) != seen)
		return 1;
	pthread_mutex_lock(&p->lock);
	while (atomic_load(&p->turn) == seen && !p->stop)
		pthread_cond_wait(&p->wake, &p->lock);
	stop = p->stop && atomic_load(&p->turn) == seen;
	pthread_mutex_unlock(&p->lock);
	return !stop;
}

static void *
work(void *arg)
{
	struct worker w = *(struct worker *)arg;
	unsigned seen = 0;

	free(arg);
	while (wait_turn(w.p, seen)) {
		seen++;
		take_parts(w.p, w.number);
		if (atomic_fetch_sub(&w.p->busy, 1) == 1) {
			pthread_mutex_lock(&w.p->lock);
			pthread_cond_signal(&w.p->idle);
			pthread_mutex_unlock(&w.p->lock);
		}
	}
	return NULL;
}

struct pool *
pool_new(int threads)
{
	struct pool *p = xcalloc(1, sizeof(*p));

	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->wake, NULL);
	pthread_cond_init(&p->idle, NULL);
	p->threads = threads;
	p->thread = xcalloc((size_t)threads, sizeof(*p->thread));
	for (int i = 1; i < threads; i++) {
		struct worker *w = xmalloc(sizeof(*w));

		*w = (struct worker){ p, i };
		if (pthread_create(&p->thread[i], NULL, work, w) != 0)
			die(EXIT_FAILED, "cannot start thread %d of %d", i + 1,
			    threads);
	}
	return p;
}

void
pool_free(struct pool *p)
{
	if (p == NULL)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = 1;
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	for (int i = 1; i < p->threads; i++)
		pthread_join(p->thread[i], NULL);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->wake);
	pthread_cond_destroy(&p->idle);
	free(p->thread);
	free(p);
}

int
pool_threads(const struct pool *p)
{
	return p->threads;
}

void
pool_run(struct pool *p, int n, void (*part)(int i, int thread, void *arg),
    void *arg)
{
	if (p->threads == 1 || n <= 1) {
		for (int i = 0; i < n; i++)
			part(i, 0, arg);
		return;
	}
	p->loop = (struct loop){ part, arg, n };
	atomic_store(&p->next, 0);
	atomic_store(&p->busy, p->threads - 1);
	pthread_mutex_lock(&p->lock);
	atomic_fetch_add(&p->turn, 1);
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	take_parts(p, 0);
	for (int i = 0; i < LOOKS && atomic_load(&p->busy) > 0; i++)
		pause_cpu();
	pthread_mutex_lock(&p->lock);
	while (atomic_load(&p->busy) > 0)
		pthread_cond_wait(&p->idle, &p->lock);
	pthread_mutex_unlock(&p->lock);
}
