/*
 * Ranks as threads of one process, for tests without mpirun.  Each ordered pair
 * of ranks of a communicator has one message queue.  Messages are numbered in
 * the order of sends, and receives in the order in which they start, so that
 * several exchanges can be in progress.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "threads.h"

struct threads_message {
	struct threads_message *next;
	size_t number, bytes;
	char data[];
};

struct threads_queue {
	pthread_mutex_t lock;
	struct threads_message *first, **last;
	size_t put;			/* messages sent so far */
	size_t wanted;			/* receives started so far; accessed
					 * only by the receiver */
};

/* State shared by the ranks of a communicator; the last rank to leave frees
 * it. */
struct threads_world { int size, members; struct threads_queue *queue; };
struct threads_member { struct threads_world *w; size_t *sent; };

/* A message that an exchange waits for. */
struct threads_receipt {
	struct threads_queue *q;
	struct message p;
	size_t number;
};
struct threads_receipts { struct threads_receipt *r; size_t n, done, cap; };

static struct threads_world *
threads_world_new(int size)
{
	struct threads_world *w = xcalloc(1, sizeof(*w));
	size_t n = (size_t)size * (size_t)size;

	*w = (struct threads_world){ size, size, xcalloc(n, sizeof(*w->queue)) };
	for (size_t i = 0; i < n; i++) {
		pthread_mutex_init(&w->queue[i].lock, NULL);
		w->queue[i].last = &w->queue[i].first;
	}
	return w;
}

static void
threads_world_leave(struct threads_world *w)
{
	if (__atomic_sub_fetch(&w->members, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	for (int i = 0; i < w->size * w->size; i++)
		pthread_mutex_destroy(&w->queue[i].lock);
	free(w->queue);
	free(w);
}

/* ---- exchanges ---- */

static void
threads_put(struct threads_queue *q, const struct message *p)
{
	struct threads_message *m = xmalloc(sizeof(*m) + p->bytes);

	m->next = NULL;
	m->bytes = p->bytes;
	if (p->bytes > 0)
		memcpy(m->data, p->data, p->bytes);
	pthread_mutex_lock(&q->lock);
	m->number = q->put++;
	*q->last = m;
	q->last = &m->next;
	pthread_mutex_unlock(&q->lock);
}

/* Remove message ${number} from the queue.  Return NULL if it has not
 * arrived. */
static struct threads_message *
threads_take(struct threads_queue *q, size_t number)
{
	struct threads_message *m, **at = &q->first;

	pthread_mutex_lock(&q->lock);
	while (*at != NULL && (*at)->number != number)
		at = &(*at)->next;
	if ((m = *at) != NULL) {
		*at = m->next;
		if (q->last == &m->next)
			q->last = at;
	}
	pthread_mutex_unlock(&q->lock);
	return m;
}

static int
threads_start(struct exchange *x, const struct message *send, int sends,
    const struct message *receive, int receives)
{
	struct comm *c = x->comm;
	struct threads_member *me = c->priv;
	struct threads_receipts *all = x->priv;

	if (all == NULL)
		all = x->priv = xcalloc(1, sizeof(*all));
	all->n = all->done = 0;
	for (int i = 0; i < receives; i++) {
		struct threads_queue *q = &me->w->queue[receive[i].rank *
		    c->size + c->rank];

		all->r = array_reserve(all->r, all->n, &all->cap,
		    sizeof(*all->r));
		all->r[all->n++] = (struct threads_receipt){ q, receive[i],
			q->wanted++ };
	}
	for (int i = 0; i < sends; i++) {
		threads_put(&me->w->queue[c->rank * c->size + send[i].rank],
		    &send[i]);
		__atomic_fetch_add(me->sent, send[i].bytes, __ATOMIC_RELAXED);
	}
	return 0;
}

static int
threads_test(struct exchange *x)
{
	struct threads_receipts *all = x->priv;

	for (; all->done < all->n; all->done++) {
		const struct threads_receipt *r = &all->r[all->done];
		struct threads_message *m = threads_take(r->q, r->number);
		size_t bytes;

		if (m == NULL)
			return 0;
		bytes = m->bytes;
		if (bytes == r->p.bytes && bytes > 0)
			memcpy(r->p.data, m->data, bytes);
		free(m);
		if (bytes != r->p.bytes)
			return fail("%zu bytes came from rank %d (wanted %zu)",
			    bytes, r->p.rank, r->p.bytes);
	}
	return 1;
}

static void
threads_forget(struct exchange *x)
{
	free(((struct threads_receipts *)x->priv)->r);
	free(x->priv);
}

/* ---- communicators ---- */

static const struct transport transport;

static struct comm *
threads_make(struct threads_world *w, int rank, size_t *sent)
{
	struct comm *c = xcalloc(1, sizeof(*c));
	struct threads_member *m = xcalloc(1, sizeof(*m));

	*m = (struct threads_member){ w, sent };
	*c = (struct comm){ .rank = rank, .size = w->size, .t = &transport,
		.what = COMM_WAITS, .priv = m };
	return c;
}

/*
 * All ranks exchange color and key.  The first rank of a color makes the new
 * communicator's state and sends its address to the others.
 */
static int
threads_split(struct comm **part, struct comm *c, int color, int key)
{
	struct wish { int color, key; } mine = { color, key };
	struct wish *all = xcalloc((size_t)c->size, sizeof(*all));
	int rank = 0, size = 0, first = -1, bad;
	struct threads_world *w = NULL;

	*part = NULL;
	bad = comm_allgather(c, &mine, sizeof(mine), all);
	for (int r = 0; r < c->size; r++) {
		if (all[r].color != color)
			continue;
		size++;
		rank += all[r].key < key || (all[r].key == key && r < c->rank);
		first = first < 0 ? r : first;
	}
	if (!bad && first == c->rank && color >= 0)
		w = threads_world_new(size);
	for (int r = 0; r < c->size && !bad && color >= 0; r++) {
		struct message p = { first == c->rank ? r : first, &w, sizeof(w) };

		if (all[r].color != color || r == first)
			continue;
		if (first == c->rank)
			bad = comm_exchange(c, &p, 1, NULL, 0);
		else if (r == c->rank)
			bad = comm_exchange(c, NULL, 0, &p, 1);
	}
	if (w != NULL)
		*part = threads_make(w, rank, ((struct threads_member *)c->priv)->sent);
	free(all);
	return bad;
}

static void
threads_release(struct comm *c)
{
	threads_world_leave(((struct threads_member *)c->priv)->w);
	free(c->priv);
	free(c);
}

static void
threads_end_all(struct comm *c, int status)
{
	(void)c;
	exit(status);
}

static const struct transport transport = {
	.name = "threads", .split = threads_split, .free = threads_release,
	.start = threads_start, .test = threads_test, .release = threads_forget,
	.abort = threads_end_all
};

struct threads_start {
	struct comm *c;
	void (*body)(struct comm *, void *);
	void *arg;
};

static void *
threads_run(void *arg)
{
	struct threads_start *s = arg;

	s->body(s->c, s->arg);
	return NULL;
}

void
comm_threads(int size, void (*body)(struct comm *, void *), void *arg)
{
	size_t n = (size_t)size;
	struct threads_world *w = threads_world_new(size);
	pthread_t *thread = xcalloc(n, sizeof(*thread));
	struct threads_start *start = xcalloc(n, sizeof(*start));
	size_t *sent = xcalloc(n, sizeof(*sent));

	for (int i = 0; i < size; i++) {
		start[i] = (struct threads_start){ threads_make(w, i, &sent[i]),
		    body, arg };
		if (pthread_create(&thread[i], NULL, threads_run, &start[i]) !=
		    0)
			die(EXIT_FAILED, "cannot start thread %d of %d", i, size);
	}
	for (int i = 0; i < size; i++) {
		pthread_join(thread[i], NULL);
		comm_free(start[i].c);
	}
	free(thread);
	free(start);
	free(sent);
}

size_t
comm_threads_sent(const struct comm *c)
{
	return __atomic_load_n(((struct threads_member *)c->priv)->sent,
	    __ATOMIC_RELAXED);
}
