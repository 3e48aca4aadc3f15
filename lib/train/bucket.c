/* Gradients reduced behind the backward pass. */
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "train/bucket.h"

struct bucket {
	struct exact exact;
	struct allreduce sum;		/* instead, if its order is free */
	int free;
	struct comm *comm;
	const struct segments *share;
	size_t elem;
	struct device *device;
	struct event *final;		/* what the backward pass has done */

	const struct tree *tree;	/* of this step */
	const struct tree_sum *sums;
	int n;
	double busy;
	int failed;

	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	size_t done;			/* reduced from here on */
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
		device_add(b->device, offset(b, b->sums[i].left, from),
		    offset(b, b->sums[i].right, from), to - from);
	return b->free ? allreduce_run(&b->sum, b->tree->part[0].data, from,
	    to) : exact_scatter(&b->exact, b->tree, from, to,
	    b->tree->part[0].data);
}

static void *
work(void *arg)
{
	struct bucket *b = arg;
	size_t each = b->share->bucket;

	pthread_mutex_lock(&b->lock);
	for (;;) {
		size_t from, to;
		double start;
		int bad;

		while (!b->stop && b->done == 0)
			pthread_cond_wait(&b->moved, &b->lock);
		if (b->stop)
			break;
		to = b->done;
		from = (to - 1) / each * each;
		pthread_mutex_unlock(&b->lock);
		device_event_wait(b->device, b->final, from);
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
bucket_open(struct comm *c, const struct segments *share, struct device *d,
    const struct allreduce_options *free)
{
	struct bucket *b = xcalloc(1, sizeof(*b));
	struct allreduce_options o;

	if (free != NULL) {
		o = *free;
		o.elem = d->elem;
		o.add = device_add;
		o.arg = d;
		o.most = share->bucket;
		b->free = 1;
		if (allreduce_open(&b->sum, c, &o) != 0)
			comm_abort(c, EXIT_RANKS);
	}
	b->comm = c;
	b->share = share;
	b->elem = d->elem;
	b->device = d;
	b->final = device_event_new(d);
	exact_open(&b->exact, c, d->elem, device_add, d, share->bucket);
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
	allreduce_close(&b->sum);
	device_event_free(b->device, b->final);
	comm_free(b->comm);
	free(b);
}

int
bucket_share(struct bucket *b, int microbatches, int *first)
{
	return b->free ? split(microbatches, b->comm->rank, b->comm->size,
	    first) : exact_leaves(&b->exact, microbatches, first);
}

int
bucket_tree(struct bucket *b, struct tree *t, int microbatches)
{
	int first, count = bucket_share(b, microbatches, &first);

	*t = (struct tree){ .leaves = b->free ? count : microbatches };
	return b->free ? 0 : first;
}

struct event *
bucket_begin(struct bucket *b, const struct tree *t,
    const struct tree_sum *sums, int n)
{
	comm_aside(b->comm, 1);
	device_event_record(b->device, b->final, b->share->elements);
	pthread_mutex_lock(&b->lock);
	b->tree = t;
	b->sums = sums;
	b->n = n;
	b->busy = 0;
	b->done = b->share->elements;
	pthread_cond_broadcast(&b->moved);
	pthread_mutex_unlock(&b->lock);
	return b->final;
}

void *
bucket_wait(struct bucket *b, double *busy)
{
	if (b->comm->size == 1) {
		for (int i = 0; i < b->n; i++)
			device_add(b->device, b->sums[i].left,
			    b->sums[i].right, b->share->elements);
		*busy = 0;
		return b->tree->part[0].data;
	}
	device_event_record(b->device, b->final, 0);
	comm_aside(b->comm, 0);
	pthread_mutex_lock(&b->lock);
	while (b->done > 0)
		pthread_cond_wait(&b->moved, &b->lock);
	*busy = b->busy;
	pthread_mutex_unlock(&b->lock);
	return b->failed ? NULL : b->tree->part[0].data;
}
