/* Gradients reduced behind the backward pass. */
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "train/bucket.h"

struct bucket {
	struct exact exact;
	struct comm *comm;
	const struct segments *share;
	size_t elem;
	void (*add)(void *, void *, const void *, size_t);
	void *arg;

	const struct tree *tree;	/* of this step */
	const struct tree_sum *sums;
	int n;
	double busy;
	int failed;

	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	size_t ready, done;		/* final, and reduced, from here on */
	int stop;
};

static void *
offset(const struct bucket *b, const void *v, size_t i)
{
	return (char *)v + i * b->elem;
}

/* Elements ${from} to ${to} - 1: finish this rank's subtrees, then reduce. */
static int
reduce(struct bucket *b, size_t from, size_t to)
{
	for (int i = 0; i < b->n; i++)
		b->add(b->arg, offset(b, b->sums[i].left, from),
		    offset(b, b->sums[i].right, from), to - from);
	return exact_scatter(&b->exact, b->tree, from, to,
	    b->tree->part[0].data);
}

/* The next bucket, once all of it is final; 0: nothing to do yet. */
static int
next(const struct bucket *b, size_t *from, size_t *to)
{
	size_t each = b->share->bucket;

	*to = b->done;
	*from = b->done > 0 ? (b->done - 1) / each * each : 0;
	return b->done > 0 && b->ready <= *from;
}

static void *
work(void *arg)
{
	struct bucket *b = arg;
	size_t from, to;

	pthread_mutex_lock(&b->lock);
	for (;;) {
		double start;
		int bad;

		while (!b->stop && !next(b, &from, &to))
			pthread_cond_wait(&b->moved, &b->lock);
		if (b->stop)
			break;
		pthread_mutex_unlock(&b->lock);
		start = clock_seconds();
		bad = reduce(b, from, to);
		pthread_mutex_lock(&b->lock);
		b->busy += clock_seconds() - start;
		b->failed |= bad != 0;
		b->done = b->failed ? 0 : from;
		pthread_cond_broadcast(&b->moved);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

size_t
bucket_elements(size_t bytes, size_t elem)
{
	size_t blocks = bytes / elem / EXACT_BLOCK;

	return (blocks > 0 ? blocks : 1) * EXACT_BLOCK;
}

struct bucket *
bucket_open(struct comm *c, const struct segments *share, size_t elem,
    void (*add)(void *, void *, const void *, size_t), void *arg)
{
	struct bucket *b = xcalloc(1, sizeof(*b));

	b->comm = c;
	b->share = share;
	b->elem = elem;
	b->add = add;
	b->arg = arg;
	exact_open(&b->exact, c, elem, add, arg, share->bucket);
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->moved, NULL);
	if (c->size > 1 && pthread_create(&b->thread, NULL, work, b) != 0)
		die(EXIT_FAILED, "cannot start the communication thread");
	return b;
}

void
bucket_close(struct bucket *b)
{
	if (b == NULL)
		return;
	pthread_mutex_lock(&b->lock);
	b->stop = 1;
	pthread_cond_broadcast(&b->moved);
	pthread_mutex_unlock(&b->lock);
	if (b->comm->size > 1)
		pthread_join(b->thread, NULL);
	pthread_mutex_destroy(&b->lock);
	pthread_cond_destroy(&b->moved);
	exact_close(&b->exact);
	comm_free(b->comm);
	free(b);
}

int
bucket_share(struct bucket *b, int microbatches, int *first)
{
	return exact_leaves(&b->exact, microbatches, first);
}

void
bucket_begin(struct bucket *b, const struct tree *t,
    const struct tree_sum *sums, int n)
{
	pthread_mutex_lock(&b->lock);
	b->tree = t;
	b->sums = sums;
	b->n = n;
	b->busy = 0;
	b->ready = b->done = b->share->elements;
	pthread_mutex_unlock(&b->lock);
}

void
bucket_ready(size_t mark, void *arg)
{
	struct bucket *b = arg;

	if (b->comm->size == 1)
		return;
	pthread_mutex_lock(&b->lock);
	b->ready = mark;
	pthread_cond_broadcast(&b->moved);
	pthread_mutex_unlock(&b->lock);
}

void *
bucket_wait(struct bucket *b, double *busy)
{
	if (b->comm->size == 1) {
		for (int i = 0; i < b->n; i++)
			b->add(b->arg, b->sums[i].left, b->sums[i].right, b->share->elements);
		*busy = 0;
		return b->tree->part[0].data;
	}
	bucket_ready(0, b);
	pthread_mutex_lock(&b->lock);
	while (b->done > 0)
		pthread_cond_wait(&b->moved, &b->lock);
	*busy = b->busy;
	pthread_mutex_unlock(&b->lock);
	return b->failed ? NULL : b->tree->part[0].data;
}
