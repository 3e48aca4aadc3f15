/*
 * Gradients reduced during the backward pass.
 *
 * The communication thread takes one bucket after another.  If device memory is
 * discrete and the hosts sum, a second thread copies the next bucket to the
 * host while the first one is exchanged; two host staging buffers alternate.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "train/reduce/bucket.h"
#include "train/reduce/host_staging.h"
#include "train/reduce/reducer.h"

struct bucket {
	struct reducer *reducer;
	struct comm *comm;
	const struct segments *share;
	size_t elem;
	struct device *device;
	struct device *side_stream;	/* side stream of ${device} for the
					 * threads */
	struct event *final;		/* progress of the backward pass */

	const struct tree *tree;	/* arguments of bucket_begin */
	const struct tree_sum *sums;
	int n;
	double busy;
	int failed;

	pthread_t thread, fetcher;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	size_t done;			/* elements from here to the end are
					 * reduced */
	size_t fetched;			/* elements from here to the end are on
					 * the host */
	struct host_staging staging[2];	/* alternating; used only if they
					 * copy */
	int stop;
};

static void *
bucket_offset(const struct bucket *b, const void *v, size_t i)
{
	return (char *)v + i * b->elem;
}

/*
 * Wait for the gradients of elements ${from} and above.  If the devices sum,
 * only the side stream waits.
 */
static void
bucket_await(struct bucket *b, size_t from)
{
	if (b->reducer->on_device)
		device_event_follow(b->side_stream, b->final, from);
	else
		device_event_wait(b->device, b->final, from);
}

static struct host_staging *
bucket_staging(struct bucket *b, size_t from)
{
	return &b->staging[from / b->share->bucket % 2];
}

/* Finish this rank's subtrees in the bucket and stage them for the reducer. */
static void
bucket_take(struct bucket *b, size_t from, size_t to)
{
	for (int i = 0; i < b->n; i++)
		device_add(b->side_stream, bucket_offset(b, b->sums[i].left,
		    from), bucket_offset(b, b->sums[i].right, from), to - from);
	host_staging_download(bucket_staging(b, from), b->tree, from, to);
}

/*
 * Reduce elements ${from} to ${to} - 1, and copy the owned ones back to the
 * device.
 */
static int
bucket_reduce(struct bucket *b, size_t from, size_t to)
{
	struct host_staging *s = bucket_staging(b, from);
	size_t at = from, end = to;

	if (reducer_begin(b->reducer, &s->tree, from, to - from) != 0)
		return -1;
	if (!b->share->copies)
		at = exact_segment(b->comm, from, to, &end);
	host_staging_upload(s, b->tree, from, at, end - at);
	return 0;
}

static int
bucket_copies(const struct bucket *b)
{
	return b->staging[0].copies;
}

/* Return the start of the bucket that ends at ${to}. */
static size_t
bucket_begin_of(const struct bucket *b, size_t to)
{
	return (to - 1) / b->share->bucket * b->share->bucket;
}

/*
 * Return 1 if a staging buffer is free for the next bucket: the last but one is
 * reduced.
 */
static int
bucket_fetches(const struct bucket *b)
{
	return b->fetched > 0 && !b->failed && b->done <=
	    bucket_begin_of(b, b->fetched) + 2 * b->share->bucket;
}

/*
 * Thread: stage each bucket on the host while the bucket before is exchanged.
 */
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
		bucket_await(b, from);
		bucket_take(b, from, to);
		pthread_mutex_lock(&b->lock);
		b->fetched = from;
		pthread_cond_broadcast(&b->moved);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

/* Thread: reduce each bucket. */
static void *
bucket_thread(void *arg)
{
	struct bucket *b = arg;

	pthread_mutex_lock(&b->lock);
	for (;;) {
		size_t from, to;
		double start;
		int bad;

		while (!b->stop && (b->done == 0 || (bucket_copies(b) &&
		    b->fetched == b->done)))
			pthread_cond_wait(&b->moved, &b->lock);
		if (b->stop)
			break;
		to = b->done;
		from = bucket_begin_of(b, to);
		pthread_mutex_unlock(&b->lock);
		if (!bucket_copies(b))
			bucket_await(b, from);
		start = clock_seconds();
		if (!bucket_copies(b))
			bucket_take(b, from, to);
		bad = bucket_reduce(b, from, to);
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
    const struct allreduce_options *free, const struct fabric_calls *fabric)
{
	struct bucket *b = xcalloc(1, sizeof(*b));

	b->comm = c;
	b->share = share;
	b->elem = d->elem;
	b->device = d;
	/* With one rank the main thread makes the additions itself. */
	b->side_stream = c->size > 1 ? device_side_stream(d) : d;
	if (b->side_stream == NULL)
		comm_abort(c, EXIT_FAILED);
	if ((b->reducer = reducer_open(c, d, b->side_stream, share->bucket,
	    free, fabric)) == NULL)
		comm_abort(c, EXIT_RANKS);
	b->final = device_event_new(d, share->bucket);
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->moved, NULL);
	if (c->size == 1)
		return b;
	for (int i = 0; i < 2; i++) {
		host_staging_open(&b->staging[i], b->side_stream,
		    share->bucket);
		b->staging[i].copies &= !b->reducer->on_device;
	}
	if (pthread_create(&b->thread, NULL, bucket_thread, b) != 0 ||
	    (bucket_copies(b) && pthread_create(&b->fetcher, NULL, bucket_fetch,
	    b) != 0))
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
	if (bucket_copies(b))
		pthread_join(b->fetcher, NULL);
	pthread_mutex_destroy(&b->lock);
	pthread_cond_destroy(&b->moved);
	reducer_close(b->reducer);
	for (int i = 0; i < 2; i++)
		host_staging_close(&b->staging[i]);
	device_side_stream_free(b->device, b->side_stream);
	device_event_free(b->device, b->final);
	comm_free(b->comm);
	free(b);
}

int
bucket_tree(struct bucket *b, struct tree *t, int microbatches)
{
	int first, count = split(microbatches, b->comm->rank, b->comm->size,
	    &first);
	int whole = b->reducer->whole_tree;

	*t = (struct tree){ .leaves = whole ? microbatches : count };
	return whole ? first : 0;
}

struct event *
bucket_begin(struct bucket *b, const struct tree *t,
    const struct tree_sum *sums, int n)
{
	for (int i = 0; i < 2; i++)
		if (host_staging_reserve(&b->staging[i], t->n) != 0)
			comm_abort(b->comm, EXIT_FAILED);
	/* The main thread computes the backward pass meanwhile. */
	comm_set_overlap(b->comm, 1);
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
	/*
	 * The backward pass has returned: all gradients are final once the
	 * device has executed it.
	 */
	device_event_record(b->device, b->final, 0);
	comm_set_overlap(b->comm, 0);
	pthread_mutex_lock(&b->lock);
	while (b->done > 0)
		pthread_cond_wait(&b->moved, &b->lock);
	*busy = b->busy;
	pthread_mutex_unlock(&b->lock);
	if (b->failed)
		return NULL;
	reducer_wait(b->reducer);
	return b->tree->part[0].data;
}

int
bucket_done(struct bucket *b)
{
	return reducer_done(b->reducer);
}

float *
bucket_found_inf(const struct bucket *b)
{
	return b->reducer->found_inf;
}

struct reducer *
bucket_reducer(const struct bucket *b)
{
	return b->reducer;
}
