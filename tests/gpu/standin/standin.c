/* The stand-in's table of driver functions, its memory and its faults. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "own.h"

struct standin *
enter(struct driver *d)
{
	struct standin *s = (struct standin *)d;

	pthread_mutex_lock(&s->lock);
	return s;
}

void
leave(struct standin *s)
{
	pthread_mutex_unlock(&s->lock);
}

void
fault(struct standin *s, enum standin_fault which, const char *fmt, ...)
{
	va_list ap;
	int sum = 0;

	for (int i = 0; i < FAULTS; i++)
		sum += s->faults[i];
	if (sum == 0) {
		va_start(ap, fmt);
		vsnprintf(s->said, sizeof(s->said), fmt, ap);
		va_end(ap);
	}
	s->faults[which]++;
}

void
not_here(struct standin *s, const char *what)
{
	if (s->quiet && pthread_equal(s->quieted, pthread_self()))
		fault(s, FAULT_WAIT, "%s where the host must not wait", what);
}

/* ---- memory ---- */

static void *
standin_alloc(struct driver *d, size_t bytes)
{
	struct standin *s = enter(d);
	void *p;

	not_here(s, "memory is allocated");
	if ((p = memory_alloc(&s->memory, bytes)) == NULL)
		fail("the stand-in has no %zu bytes left", bytes);
	leave(s);
	return p;
}

static void *
standin_alloc_host(struct driver *d, size_t bytes)
{
	struct standin *s = enter(d);
	void *p;

	not_here(s, "memory of the host is pinned");
	if ((p = memory_alloc_host(&s->memory, bytes)) == NULL)
		fail("no %zu bytes to be pinned", bytes);
	else
		watch_known(&s->watch, p, bytes);
	leave(s);
	return p;
}

/* As in CUDA, a free waits for all queued work. */
static void
release(struct driver *d, void *p, int host)
{
	struct standin *s = enter(d);
	const struct room *r = memory_find(&s->memory, p);

	if (p == NULL) {
		leave(s);
		return;
	}
	not_here(s, "memory is freed");
	finish_all(s);
	if (r != NULL)
		watch_forget(&s->watch, p, r->bytes);
	if (memory_free(&s->memory, p, host) != 0)
		fault(s, FAULT_MISUSE, "%p is freed, which is not an "
		    "allocation of this kind", p);
	leave(s);
}

static void
standin_free(struct driver *d, void *p)
{
	release(d, p, 0);
}

static void
standin_free_host(struct driver *d, void *p)
{
	release(d, p, 1);
}

/* ---- functions for tests ---- */

void
standin_quiet(struct driver *d, int on)
{
	struct standin *s;

	if (standin_absent())
		return;
	s = enter(d);
	s->quiet = on;
	s->quieted = pthread_self();
	leave(s);
}

void
standin_unknown(struct driver *d, const void *at, size_t bytes)
{
	struct standin *s;

	if (standin_absent())
		return;
	s = enter(d);
	watch_forget(&s->watch, at, bytes);
	leave(s);
}

int
standin_faults(struct driver *d, enum standin_fault which)
{
	struct standin *s;
	int n;

	if (standin_absent())
		return 0;
	s = enter(d);
	n = s->faults[which];
	s->faults[which] = 0;
	leave(s);
	return n;
}

const char *
standin_said(struct driver *d)
{
	static _Thread_local char text[sizeof(((struct standin *)0)->said)];
	struct standin *s;

	if (standin_absent())
		return "";
	s = enter(d);
	memcpy(text, s->said, sizeof(text));
	s->said[0] = '\0';
	leave(s);
	return text;
}

long
standin_pieces(struct driver *d)
{
	return standin_absent() ? 0 : ((struct standin *)d)->pieces;
}

void
standin_fastest(struct driver *d, int engine)
{
	if (!standin_absent())
		((struct standin *)d)->fastest = engine;
}

void
standin_engines(struct driver *d, int engines, int wrong, int varies)
{
	struct standin *s = (struct standin *)d;

	if (standin_absent())
		return;
	s->engines = engines;
	s->wrong = wrong;
	s->varies = varies;
}

static void
standin_close(struct driver *d)
{
	struct standin *s = (struct standin *)d;
	int streams = 0, faults = 0;

	finish_all(s);
	for (int i = 0; i < LANES; i++)
		streams += s->stream[i] != NULL;
	if (s->memory.rooms + (size_t)(streams + s->events + s->graphs +
	    s->plans) > 0)
		fault(s, FAULT_MISUSE, "closed with %zu allocations, %d streams, "
		    "%d events, %d graphs and %d plans", s->memory.rooms,
		    streams, s->events, s->graphs, s->plans);
	for (int i = 0; i < FAULTS; i++)
		faults += s->faults[i];
	if (faults > 0 && !standin_absent()) {
		printf("Bail out! stand-in: %d faults: %s\n", faults, s->said);
		fprintf(stderr, "stand-in: %d faults: %s\n", faults, s->said);
		exit(1);
	}
	conv_cache_free(s->algorithms.choices);
	memory_close(&s->memory);
	watch_free(&s->watch);
	guard_close(&s->guard);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static void *
standin_native(struct driver *d, struct gpu_stream *t)
{
	return ((struct standin *)d)->pretends ? t : NULL;
}

static const struct driver_calls calls = {
	"the stand-in", standin_close,
	standin_alloc, standin_free, standin_alloc_host, standin_free_host,
	standin_stream_new, standin_stream_free, standin_event_new,
	standin_event_free, standin_record, standin_follow, standin_wait_event,
	standin_wait,
	standin_copy, standin_fill, standin_launch,
	standin_conv_new, standin_conv_free, standin_conv_workspace,
	standin_conv_describe, standin_conv,
	standin_product_new, standin_product_free, standin_product_workspace,
	standin_product,
	standin_capture, standin_captured, standin_record_inside,
	standin_graph_run, standin_graph_free, standin_native, NULL
};

struct driver *
standin_open(const struct standin_options *o)
{
	struct standin *s = xcalloc(1, sizeof(*s));
	pthread_mutexattr_t recursive;

	s->driver.call = &calls;
	s->o = *o;
	if (o->kernel == NULL) {
		s->o.kernel = standin_kernels;
		s->o.kernels = standin_kernels_n;
	}
	standin_ways(s);
	s->pretends = standin_pretends();
	s->fastest = 1;
	s->engines = 2;
	/* Timing calls the driver while a convolution is planned. */
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&s->lock, &recursive);
	if (memory_open(&s->memory, o->memory > 0 ? o->memory :
	    (size_t)16 << 30) != 0 || guard_open(&s->guard) != 0)
		exit(1);
	return &s->driver;
}
