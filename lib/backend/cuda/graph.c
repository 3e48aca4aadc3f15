/*
 * Events of a backward pass, and captured graphs, which record such events at
 * each launch.
 *
 * An event has a mark for each recorded element number ${from}, with an event
 * of the driver.  A waiting thread takes the first mark that is low enough.  It
 * holds the lock while it looks, not while it waits for the device.
 */
#include <stdlib.h>

#include "backend/cuda/conv.h"
#include "backend/cuda/kernels.h"
#include "base/fail.h"
#include "base/mem.h"

struct cuda_graph_mark { size_t from; struct gpu_event *done; };

struct event {
	struct cuda *c;
	size_t step;			/* marks are multiples of it */
	pthread_mutex_t lock;
	pthread_cond_t moved;
	struct cuda_graph_mark *mark;		/* recorded since the last
						 * reset, in falling order of
						 * from */
	int marks, cap;
	struct gpu_event **own;		/* driver events for marks recorded
					 * outside graphs */
	int owned;
};

/*
 * A captured graph, and the marks of one event that it records.  Their driver
 * events belong to the graph.
 */
struct captured_graph {
	struct gpu_graph *graph;
	struct weights_table returns;	/* gradients still to convert
					 * (packing.c) */
	struct event *event;
	struct cuda_graph_mark *mark;
	size_t marks, cap;
};

static struct event *
cuda_event_new(struct device *d, size_t step)
{
	struct event *e = xcalloc(1, sizeof(*e));

	e->c = (struct cuda *)d;
	e->step = step;
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->moved, NULL);
	return e;
}

static void
cuda_event_free(struct event *e)
{
	struct driver *d = e->c->driver;

	for (int i = 0; i < e->owned; i++)
		d->call->event_free(d, e->own[i]);
	pthread_cond_destroy(&e->moved);
	pthread_mutex_destroy(&e->lock);
	free(e->mark);
	free(e->own);
	free(e);
}

static struct gpu_event *
cuda_graph_driver_event(struct driver *d)
{
	struct gpu_event *v = d->call->event_new(d);

	if (v == NULL)
		die(1, "the device has failed");
	return v;
}

/*
 * Append a mark, to which the caller adds a driver event.  Return 0 if the last
 * mark is the same.  A number that is not below the first mark begins a new
 * pass.  The lock is held.
 */
static int
cuda_graph_begin_mark(struct event *e, size_t from)
{
	if (e->marks > 0 && from >= e->mark[0].from)
		e->marks = 0;		/* reset */
	else if (e->marks > 0 && from == e->mark[e->marks - 1].from)
		return 0;
	if (e->marks == e->cap) {
		e->cap = 2 * e->cap + 16;
		e->mark = xrealloc(e->mark, (size_t)e->cap, sizeof(*e->mark));
		e->own = xrealloc(e->own, (size_t)e->cap, sizeof(*e->own));
	}
	e->mark[e->marks++] = (struct cuda_graph_mark){ from, NULL };
	return 1;
}

/*
 * Record an event in the graph being captured, unless the last mark is the
 * same.  A thread that waits for it expects final gradients, so convert those
 * that are still packed first.
 */
static void
cuda_graph_keep_mark(struct captured_graph *r, struct event *e, size_t from)
{
	struct driver *d = e->c->driver;

	if (r->event != NULL && r->event != e)
		die(1, "cuda: a graph records two events");
	if (r->marks > 0 && from == r->mark[r->marks - 1].from)
		return;
	packing_run(e->c, GPU_WEIGHTS_RETURN, &r->returns);
	r->event = e;
	r->mark = array_reserve(r->mark, r->marks, &r->cap, sizeof(*r->mark));
	r->mark[r->marks] = (struct cuda_graph_mark){ from,
	    cuda_graph_driver_event(d) };
	d->call->record_inside(d, r->mark[r->marks++].done, e->c->stream);
}

static void
cuda_event_record(struct device *device, struct event *e, size_t from)
{
	struct driver *d = e->c->driver;
	struct gpu_event *done;

	(void)device;
	from = (from + e->step - 1) / e->step * e->step;
	if (e->c->capturing != NULL) {
		cuda_graph_keep_mark(e->c->capturing, e, from);
		return;
	}
	pthread_mutex_lock(&e->lock);
	if (cuda_graph_begin_mark(e, from)) {
		while (e->owned < e->marks)
			e->own[e->owned++] = cuda_graph_driver_event(d);
		done = e->mark[e->marks - 1].done = e->own[e->marks - 1];
		d->call->record(d, done, e->c->stream);
		pthread_cond_broadcast(&e->moved);
	}
	pthread_mutex_unlock(&e->lock);
}

/*
 * Return the driver event of the first mark at or below ${from}.  Wait until it
 * has been recorded.
 */
static struct gpu_event *
cuda_graph_find_mark(struct event *e, size_t from)
{
	struct gpu_event *done;
	int i;

	pthread_mutex_lock(&e->lock);
	for (;;) {
		for (i = 0; i < e->marks && e->mark[i].from > from; i++)
			;
		if (i < e->marks)
			break;
		pthread_cond_wait(&e->moved, &e->lock);
	}
	done = e->mark[i].done;
	pthread_mutex_unlock(&e->lock);
	return done;
}

static void
cuda_event_wait(struct event *e, size_t from)
{
	struct driver *d = e->c->driver;

	if (d->call->wait_event(d, cuda_graph_find_mark(e, from)) != 0)
		die(1, "the device has failed");
}

static void
cuda_event_follow(struct device *device, struct event *e, size_t from)
{
	struct cuda *c = (struct cuda *)device;

	c->driver->call->follow(c->driver, c->stream,
	    cuda_graph_find_mark(e, from));
}

/* ---- captured graphs ---- */

static int
cuda_capture(struct device *d)
{
	struct cuda *c = (struct cuda *)d;

	if (c->driver->call->capture(c->driver, c->stream) != 0)
		return -1;
	c->capturing = xcalloc(1, sizeof(*c->capturing));
	return 0;
}

static void
cuda_graph_free(struct device *d, struct captured_graph *r)
{
	struct cuda *c = (struct cuda *)d;

	if (r->graph != NULL)
		c->driver->call->graph_free(c->driver, r->graph);
	for (size_t i = 0; i < r->marks; i++)
		c->driver->call->event_free(c->driver, r->mark[i].done);
	free(r->mark);
	free(r);
}

static struct captured_graph *
cuda_capture_end(struct device *d)
{
	struct cuda *c = (struct cuda *)d;
	struct captured_graph *r = c->capturing;

	packing_run(c, GPU_WEIGHTS_RETURN, &r->returns);
	c->capturing = NULL;
	r->graph = c->driver->call->captured(c->driver, c->stream);
	if (r->graph != NULL)
		return r;
	cuda_graph_free(d, r);
	return NULL;
}

struct weights_table *
packing_returns(struct cuda *c)
{
	return c->capturing != NULL ? &c->capturing->returns : NULL;
}

/*
 * Launch first: a thread that saw a mark earlier would wait for the event of
 * the previous launch.
 */
static void
cuda_graph_launch(struct device *d, struct captured_graph *r)
{
	struct cuda *c = (struct cuda *)d;
	struct event *e = r->event;

	c->driver->call->graph_run(c->driver, c->stream, r->graph);
	if (e == NULL)
		return;
	pthread_mutex_lock(&e->lock);
	for (size_t i = 0; i < r->marks; i++)
		if (cuda_graph_begin_mark(e, r->mark[i].from))
			e->mark[e->marks - 1].done = r->mark[i].done;
	pthread_cond_broadcast(&e->moved);
	pthread_mutex_unlock(&e->lock);
}

const struct event_ops cuda_event = {
	.create = cuda_event_new, .free = cuda_event_free,
	.record = cuda_event_record, .wait = cuda_event_wait,
	.follow = cuda_event_follow,
};

const struct graph_ops cuda_graph = {
	.capture = cuda_capture, .capture_end = cuda_capture_end,
	.launch = cuda_graph_launch, .free = cuda_graph_free,
};
