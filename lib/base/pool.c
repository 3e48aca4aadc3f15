/*
 * A thread pool for short loops.  The caller waits until all iterations are
 * finished, not until all threads are idle.  A worker that has no iteration
 * delays nothing, even while other processes keep it off its core.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/pool.h"

/*
 * Polls of a worker before it sleeps, and of the caller before it waits.  This
 * is several microseconds, the length of a small layer.  Longer polling would
 * take the core from other processes.
 */
#define POOL_POLLS 2000

struct pool_loop {
	void (*part)(int i, int thread, void *arg);
	void *arg;
	int n;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t wake, idle;
	pthread_t *thread;
	int threads, stop;
	/*
	 * The low 32 bits count the iterations that no thread has claimed.  The
	 * high 32 bits number the loop.  A thread that read the ticket of an
	 * earlier loop therefore fails its compare-and-exchange and claims no
	 * iteration of a later one.
	 */
	atomic_uint_least64_t ticket;
	atomic_int unfinished;		/* iterations that have not returned */
	struct pool_loop loop;
};

struct pool_worker { struct pool *p; int number; };

static void
pool_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static uint32_t
pool_unclaimed(struct pool *p)
{
	return (uint32_t)atomic_load(&p->ticket);
}

/*
 * Run iterations until none is unclaimed.  A claimed iteration keeps ${p->loop}
 * valid: pool_run cannot return, and so cannot replace it, before the iteration
 * finishes.
 */
static void
pool_run_iterations(struct pool *p, int thread)
{
	uint_least64_t t = atomic_load(&p->ticket);

	while ((uint32_t)t != 0) {
		if (!atomic_compare_exchange_weak(&p->ticket, &t, t - 1))
			continue;
		p->loop.part(p->loop.n - (int)(uint32_t)t, thread, p->loop.arg);
		/* The caller needs no signal: it checks the count before it
		 * waits. */
		if (atomic_fetch_sub(&p->unfinished, 1) == 1 && thread != 0) {
			pthread_mutex_lock(&p->lock);
			pthread_cond_signal(&p->idle);
			pthread_mutex_unlock(&p->lock);
		}
		t = atomic_load(&p->ticket);
	}
}

/* Poll for unclaimed iterations, then sleep until there are some.  Return 1,
 * or 0 if the pool stops. */
static int
pool_wait(struct pool *p)
{
	int stop;

	for (int i = 0; i < POOL_POLLS; i++) {
		if (pool_unclaimed(p) > 0)
			return 1;
		pool_pause();
	}
	pthread_mutex_lock(&p->lock);
	while (pool_unclaimed(p) == 0 && !p->stop)
		pthread_cond_wait(&p->wake, &p->lock);
	stop = p->stop;
	pthread_mutex_unlock(&p->lock);
	return !stop;
}

static void *
pool_worker(void *arg)
{
	struct pool_worker w = *(struct pool_worker *)arg;

	free(arg);
	while (pool_wait(w.p))
		pool_run_iterations(w.p, w.number);
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
		struct pool_worker *w = xmalloc(sizeof(*w));

		*w = (struct pool_worker){ p, i };
		if (pthread_create(&p->thread[i], NULL, pool_worker, w) != 0)
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
	p->loop = (struct pool_loop){ part, arg, n };
	atomic_store(&p->unfinished, n);
	pthread_mutex_lock(&p->lock);
	/*
	 * Publish ${loop} and ${unfinished} before the ticket, because workers
	 * that poll do not take the lock.  The store under the lock prevents a
	 * lost wake-up.
	 */
	atomic_store(&p->ticket, ((atomic_load(&p->ticket) >> 32) + 1) << 32 |
	    (uint32_t)n);
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	pool_run_iterations(p, 0);
	for (int i = 0; i < POOL_POLLS && atomic_load(&p->unfinished) > 0; i++)
		pool_pause();
	pthread_mutex_lock(&p->lock);
	while (atomic_load(&p->unfinished) > 0)
		pthread_cond_wait(&p->idle, &p->lock);
	pthread_mutex_unlock(&p->lock);
}
