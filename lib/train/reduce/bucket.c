/* Gradients reduced behind the backward pass. */
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "train/reduce/bucket.h"
#include "train/reduce/detour.h"
#include "train/reduce/onboard.h"

struct bucket {
	struct exact exact;
	struct allreduce sum;		/* instead, if its order is free, */
	struct onboard *onboard;	/* or the devices do it; NULL */
	int free;
	int by_host;			/* the device is apart and does not */
	struct comm *comm;
	const struct segments *share;
	size_t elem;
	struct device *device;
	struct device *aside;		/* that of the threads here */
	struct event *final;		/* what the backward pass has done */
	struct event *summed;		/* what the devices have; NULL: nothing */
	float *lost;			/* and have in common; NULL: nothing */

	const struct tree *tree;	/* of this step */
	const struct tree_sum *sums;
	int n;
	double busy;
	int failed;

	pthread_t thread, fetcher;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	size_t done;			/* reduced from here on */
	size_t fetched;			/* on the host from here on */
	struct detour detour[2];	/* of buckets by turns, if the device
					 * is apart */
	int stop;
};

static void *
bucket_offset(const struct bucket *b, const void *v, size_t i)
{
	return (char *)v + i * b->elem;
}

/* Elements ${from} to ${to} - 1, once they are there: finish this rank's
 * subtrees. */
static void
bucket_finish(struct bucket *b, size_t from, size_t to)
{
	for (int i = 0; i < b->n; i++)
		device_add(b->aside, bucket_offset(b, b->sums[i].left, from),
		    bucket_offset(b, b->sums[i].right, from), to - from);
}

/* The sum over ranks of the subtrees ${t}, into the first. */
static int
bucket_reduce(struct bucket *b, const struct tree *t, size_t from, size_t to)
{
	return b->free ? allreduce_run(&b->sum, t->part[0].data, from, to) :
	    exact_scatter(&b->exact, t, from, to, t->part[0].data);
}

/* The same of what lies on the host, and what this rank owns of it back. */
static int
bucket_reduce_on_host(struct bucket *b, size_t from, size_t to)
{
	struct detour *s = &b->detour[from / b->share->bucket % 2];
	int rank = b->comm->rank, size = b->comm->size;
	size_t at = from, end = to;

	if (bucket_reduce(b, &s->tree, 0, to - from) != 0)
		return -1;
	if (!b->share->copies) {
		at = exact_cut(from, to, rank, size);
		end = exact_cut(from, to, rank + 1, size);
	}
	detour_give(s, b->tree->part[0].data, from, at, end - at);
	return 0;
}

/* Where the bucket that ends at ${to} begins. */
static size_t
bucket_begin_of(const struct bucket *b, size_t to)
{
	return (to - 1) / b->share->bucket * b->share->bucket;
}

/* There is room for the next bucket on the host: the last but one is done. */
static int
bucket_fetches(const struct bucket *b)
{
	return b->fetched > 0 && !b->failed && b->done <=
	    bucket_begin_of(b, b->fetched) + 2 * b->share->bucket;
}

/* From the device to the host, while the bucket before is exchanged. */
static void *
bucket_fetch(void *arg)
{
	struct bucket *b = arg;

	pthread_mutex_lock(&b->lock);
	for (;;) {
		size_t from, to;

		while (!b->stop && !bucket_fetches(b))
			pthread_cond_wait(&b->moved, &b->lock);
		if (b->stop)
			break;
		to = b->fetched;
		from = bucket_begin_of(b, to);
		pthread_mutex_unlock(&b->lock);
		device_event_wait(b->device, b->final, from);
		bucket_finish(b, from, to);
		detour_take(&b->detour[from / b->share->bucket % 2], b->tree,
		    from, to);
		pthread_mutex_lock(&b->lock);
		b->fetched = from;
		pthread_cond_broadcast(&b->moved);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

/* What is summed of elements from ${from} on is as it should be: on the host that
 * must be waited for, a device has it wait for itself. */
static void
bucket_await(struct bucket *b, size_t from)
{
	if (b->onboard != NULL)
		device_event_follow(b->aside, b->final, from);
	else if (!b->by_host)
		device_event_wait(b->device, b->final, from);
}

/* Elements ${from} to ${to} - 1, which are as they should be on the device or,
 * by_host, on the host; -1: not summed. */
static int
bucket_sum(struct bucket *b, size_t from, size_t to)
{
	if (b->by_host)
		return bucket_reduce_on_host(b, from, to);
	bucket_finish(b, from, to);
	if (b->onboard == NULL)
		return bucket_reduce(b, b->tree, from, to);
	if (onboard_sum(b->onboard, bucket_offset(b, b->tree->part[0].data,
	    from), to - from) != 0)
		return -1;
	if (from > 0)
		return 0;
	if (b->lost != NULL && onboard_count(b->onboard, b->lost) != 0)
		return -1;
	device_event_record(b->aside, b->summed, 0);
	return 0;
}

static void *
bucket_thread(void *arg)
{
	struct bucket *b = arg;

	pthread_mutex_lock(&b->lock);
	for (;;) {
		size_t from, to;
		double start;
		int bad;

		while (!b->stop && (b->done == 0 || (b->by_host && b->fetched ==
		    b->done)))
			pthread_cond_wait(&b->moved, &b->lock);
		if (b->stop)
			break;
		to = b->done;
		from = bucket_begin_of(b, to);
		pthread_mutex_unlock(&b->lock);
		bucket_await(b, from);
		start = clock_seconds();
		bad = bucket_sum(b, from, to);
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

	b->aside = c->size > 1 ? device_aside(d) : d;
	if (b->aside == NULL)
		comm_abort(c, EXIT_FAILED);
	if (free != NULL) {
		o = *free;
		o.elem = d->elem;
		o.add = detour_add;
		o.arg = d;
		o.most = share->bucket;
		b->free = 1;
		if (o.fabric == NULL ? allreduce_open(&b->sum, c, &o) != 0 :
		    (b->onboard = onboard_new(c, b->aside, &o)) == NULL)
			comm_abort(c, EXIT_RANKS);
	}
	b->by_host = d->backend->apart && b->onboard == NULL;
	if (b->onboard != NULL)
		b->summed = device_event_new(b->aside);
	if (b->onboard != NULL && device_judges(d) &&
	    (b->lost = device_alloc(d, sizeof(*b->lost))) == NULL)
		comm_abort(c, EXIT_FAILED);
	b->comm = c;
	b->share = share;
	b->elem = d->elem;
	b->device = d;
	b->final = device_event_new(d);
	exact_open(&b->exact, c, d->elem, detour_add, d, share->bucket);
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->moved, NULL);
	if (c->size == 1)
		return b;
	for (int i = 0; i < 2; i++)
		detour_open(&b->detour[i], b->aside, share->bucket);
	if (pthread_create(&b->thread, NULL, bucket_thread, b) != 0 ||
	    (b->by_host && pthread_create(&b->fetcher, NULL, bucket_fetch, b) !=
	    0))
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
	if (b->comm->size > 1 && b->by_host)
		pthread_join(b->fetcher, NULL);
	pthread_mutex_destroy(&b->lock);
	pthread_cond_destroy(&b->moved);
	exact_close(&b->exact);
	allreduce_close(&b->sum);
	onboard_free(b->onboard);
	for (int i = 0; i < 2; i++)
		detour_close(&b->detour[i]);
	if (b->summed != NULL)
		device_event_free(b->aside, b->summed);
	if (b->lost != NULL)
		device_free(b->device, b->lost);
	device_aside_free(b->device, b->aside);
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
	for (int i = 0; i < 2 && b->comm->size > 1 && b->by_host; i++)
		if (detour_room(&b->detour[i], t->n) != 0)
			comm_abort(b->comm, EXIT_FAILED);
	comm_aside(b->comm, 1);
	if (b->comm->size > 1)
		device_event_record(b->device, b->final, b->share->elements);
	pthread_mutex_lock(&b->lock);
	b->tree = t;
	b->sums = sums;
	b->n = n;
	b->busy = 0;
	b->done = b->fetched = b->share->elements;
	pthread_cond_broadcast(&b->moved);
	pthread_mutex_unlock(&b->lock);
	return b->comm->size > 1 ? b->final : NULL;
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
	if (b->failed)
		return NULL;
	if (b->summed != NULL)
		device_event_follow(b->device, b->summed, 0);
	return b->tree->part[0].data;
}

int
bucket_done(struct bucket *b)
{
	return b->onboard != NULL ? onboard_wait(b->onboard) : 0;
}

float *
bucket_lost(const struct bucket *b)
{
	return b->lost;
}
