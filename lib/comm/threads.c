/* Ranks as threads: one queue of messages for each ordered pair of ranks. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "comm/threads.h"

struct message { struct message *next; size_t bytes; char data[]; };

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct message *first, **last;
};

struct world { int size; struct queue *queue; };
struct member { struct world *w; size_t sent; };

static void
put(struct queue *q, const struct piece *p)
{
	struct message *m = xmalloc(sizeof(*m) + p->bytes);

	m->next = NULL;
	m->bytes = p->bytes;
	if (p->bytes > 0)
		memcpy(m->data, p->data, p->bytes);
	pthread_mutex_lock(&q->lock);
	*q->last = m;
	q->last = &m->next;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->lock);
}

static int
take(struct queue *q, const struct piece *p)
{
	struct message *m;
	int result = 0;

	pthread_mutex_lock(&q->lock);
	while ((m = q->first) == NULL)
		pthread_cond_wait(&q->more, &q->lock);
	if ((q->first = m->next) == NULL)
		q->last = &q->first;
	pthread_mutex_unlock(&q->lock);
	if (m->bytes != p->bytes)
		result = fail("%zu bytes came from rank %d (wanted %zu)",
		    m->bytes, p->rank, p->bytes);
	else if (p->bytes > 0)
		memcpy(p->data, m->data, p->bytes);
	free(m);
	return result;
}

static int
exchange(struct comm *c, const struct piece *send, int sends,
    const struct piece *receive, int receives)
{
	struct member *me = c->priv;
	int size = c->size, result = 0;

	for (int i = 0; i < sends; i++) {
		put(&me->w->queue[c->rank * size + send[i].rank], &send[i]);
		me->sent += send[i].bytes;
	}
	for (int i = 0; i < receives && result == 0; i++)
		result = take(&me->w->queue[receive[i].rank * size + c->rank],
		    &receive[i]);
	return result;
}

static struct comm *
dup(struct comm *c)
{
	struct comm *d = xcalloc(1, sizeof(*d));

	/* One thread a rank talks at a time here, so the queues serve both. */
	*d = *c;
	return d;
}

static void
release(struct comm *c)
{
	free(c);
}

static void
end_all(struct comm *c, int status)
{
	(void)c;
	exit(status);
}

static const struct transport transport = {
	"threads", dup, release, exchange, NULL, NULL, NULL, end_all
};

struct start {
	struct comm *c;
	void (*body)(struct comm *, void *);
	void *arg;
};

static void *
run(void *arg)
{
	struct start *s = arg;

	s->body(s->c, s->arg);
	return NULL;
}

void
comm_threads(int size, void (*body)(struct comm *, void *), void *arg)
{
	size_t n = (size_t)size;
	struct world w = { size, xcalloc(n * n, sizeof(struct queue)) };
	pthread_t *thread = xcalloc(n, sizeof(*thread));
	struct start *start = xcalloc(n, sizeof(*start));
	struct member *member = xcalloc(n, sizeof(*member));

	for (size_t i = 0; i < n * n; i++) {
		pthread_mutex_init(&w.queue[i].lock, NULL);
		pthread_cond_init(&w.queue[i].more, NULL);
		w.queue[i].last = &w.queue[i].first;
	}
	for (int i = 0; i < size; i++) {
		struct comm *c = xcalloc(1, sizeof(*c));

		member[i].w = &w;
		*c = (struct comm){ .rank = i, .size = size, .t = &transport,
			.what = COMM_WAITS, .priv = &member[i] };
		start[i] = (struct start){ c, body, arg };
		if (pthread_create(&thread[i], NULL, run, &start[i]) != 0)
			die(EXIT_FAILED, "cannot start thread %d of %d", i, size);
	}
	for (int i = 0; i < size; i++) {
		pthread_join(thread[i], NULL);
		release(start[i].c);
	}
	for (size_t i = 0; i < n * n; i++) {
		pthread_mutex_destroy(&w.queue[i].lock);
		pthread_cond_destroy(&w.queue[i].more);
	}
	free(w.queue);
	free(thread);
	free(start);
	free(member);
}

size_t
comm_threads_sent(const struct comm *c)
{
	return ((struct member *)c->priv)->sent;
}
