/*
 * Count the allocations of vt's own objects in a span of steps or frames that
 * must not allocate.  tests/build.mk links commands a second time with --wrap
 * for these calls, so that each call in our objects comes here.  Allocations
 * inside libraries are not counted.
 *
 * ALLOCS=FIRST-LAST sets the span.  For a training run it counts steps, while
 * all threads of the process are in them.  For videos it counts frames from
 * number FIRST, of every video but a thread's first, and of that thread alone.
 * At exit, standard error gets a line for each place that allocated: the number
 * of calls, and the addresses of the call and its callers in the program's
 * file, for addr2line(1).  The last line is "allocations: N in M steps or
 * frames".
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "comm/watch.h"
#include "media/video.h"

enum { DEPTH = 8, SKIP = 2, PLACES = 64 };

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
int __real_posix_memalign(void **p, size_t alignment, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from);
void __real_watch_phase(struct watch *w, const char *what, uint64_t step);
int __real_video_next(struct video *v, struct video_frame *f);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
int __wrap_posix_memalign(void **p, size_t alignment, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t n);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from);
void __wrap_watch_phase(struct watch *w, const char *what, uint64_t step);
int __wrap_video_next(struct video *v, struct video_frame *f);

static unsigned long long first, last;	/* the span; 0, 0: count nothing */
static atomic_int in_steps;		/* all threads are in the span */
static _Thread_local int in_frames;	/* this thread is in the span */
static _Thread_local unsigned long long frame, videos;
static atomic_ullong counted;		/* steps or frames of the span */
static _Thread_local int busy;		/* inside backtrace, whose
					 * allocations do not count */

/* Allocations since the last frame.  They count only if another frame follows,
 * since those after the last frame belong to the end of the video. */
static _Thread_local struct dnnl_call {
	const char *name;
	void *stack[DEPTH];
	int depth;
} pending[64];
static _Thread_local int waiting;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rank_place { struct dnnl_call call; unsigned long long times; } place[PLACES];
static unsigned long long allocations;

static void
report(void)
{
	Dl_info self = { 0 };

	dladdr((void *)(uintptr_t)&report, &self);
	for (int i = 0; i < PLACES && place[i].times > 0; i++) {
		const struct dnnl_call *c = &place[i].call;

		fprintf(stderr, "%s %llu", c->name, place[i].times);
		for (int k = SKIP; k < c->depth; k++) {
			Dl_info d;

			/* The return address minus 1 is in the call itself. */
			if (dladdr(c->stack[k], &d) != 0 &&
			    d.dli_fbase == self.dli_fbase)
				fprintf(stderr, " %#llx", (unsigned long long)
				    ((char *)c->stack[k] -
				    (char *)d.dli_fbase - 1));
		}
		fputc('\n', stderr);
	}
	fprintf(stderr, "allocations: %llu in %llu steps or frames\n",
	    allocations, (unsigned long long)counted);
}

__attribute__((constructor)) static void
begin(void)
{
	const char *span = getenv("ALLOCS");
	void *stack[DEPTH];

	if (span == NULL || sscanf(span, "%llu-%llu", &first, &last) != 2)
		return;
	backtrace(stack, DEPTH);	/* load its library now */
	atexit(report);
}

static void
add(const struct dnnl_call *c)
{
	int i;

	pthread_mutex_lock(&lock);
	allocations++;
	for (i = 0; i < PLACES && place[i].times > 0; i++)
		if (place[i].call.name == c->name &&
		    place[i].call.depth == c->depth &&
		    memcmp(place[i].call.stack + SKIP, c->stack + SKIP,
		    (size_t)(c->depth - SKIP) * sizeof(*c->stack)) == 0)
			break;
	if (i < PLACES) {
		place[i].call = *c;
		place[i].times++;
	}
	pthread_mutex_unlock(&lock);
}

static void
seen(const char *name)
{
	struct dnnl_call c = { .name = name };

	if (busy || (!atomic_load(&in_steps) && !in_frames))
		return;
	busy = 1;
	c.depth = backtrace(c.stack, DEPTH);
	if (!in_frames)
		add(&c);
	else if (waiting < (int)(sizeof(pending) / sizeof(pending[0])))
		pending[waiting++] = c;
	busy = 0;
}

void *
__wrap_malloc(size_t n)
{
	seen("malloc");
	return __real_malloc(n);
}

void *
__wrap_calloc(size_t n, size_t size)
{
	seen("calloc");
	return __real_calloc(n, size);
}

void *
__wrap_realloc(void *p, size_t n)
{
	seen("realloc");
	return __real_realloc(p, n);
}

int
__wrap_posix_memalign(void **p, size_t alignment, size_t n)
{
	seen("posix_memalign");
	return __real_posix_memalign(p, alignment, n);
}

void *
__wrap_aligned_alloc(size_t alignment, size_t n)
{
	seen("aligned_alloc");
	return __real_aligned_alloc(alignment, n);
}

void *
__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
	seen("mmap");
	return __real_mmap(at, n, prot, flags, fd, from);
}

/* The main thread calls this before each step.  The span ends after step
 * ${last}. */
void
__wrap_watch_phase(struct watch *w, const char *what, uint64_t step)
{
	int inside = what == NULL && step >= first && step <= last;

	if (inside && !atomic_load(&in_steps))
		counted = last - first + 1;
	atomic_store(&in_steps, inside);
	__real_watch_phase(w, what, step);
}

/* A frame's span lasts until the next frame; allocations after the last frame
 * do not count. */
int
__wrap_video_next(struct video *v, struct video_frame *f)
{
	int result;

	videos += frame++ == 0;
	result = __real_video_next(v, f);
	for (int i = 0; i < waiting && result == 1; i++)
		add(&pending[i]);
	waiting = 0;
	if (in_frames && result == 1)
		counted++;
	if (result != 1)
		frame = 0;
	in_frames = last > 0 && videos > 1 && frame >= first;
	return result;
}
