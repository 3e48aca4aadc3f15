/*
 * Faults of library calls: allocations and the start of threads.  Builds with a
 * sanitizer leave this file out, because the sanitizer has its own allocator.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "fault.h"

/* the C library's own functions, by their other names */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static int
fails(void)
{
	int error = fault_hit(MALLOC);

	if (error > 0)
		errno = error;
	return error > 0;
}

void *
malloc(size_t n)
{
	return fails() ? NULL : __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *p, size_t n)
{
	return fails() ? NULL : __libc_realloc(p, n);
}

void *
memalign(size_t to, size_t n)
{
	return fails() ? NULL : __libc_memalign(to, n);
}

void *
aligned_alloc(size_t to, size_t n)
{
	return memalign(to, n);
}

int
posix_memalign(void **p, size_t to, size_t n)
{
	void *got = memalign(to, n);

	if (got == NULL)
		return ENOMEM;
	*p = got;
	return 0;
}

int
pthread_create(pthread_t *thread, const pthread_attr_t *attr,
    void *(*run)(void *), void *arg)
{
	static int (*real)(pthread_t *, const pthread_attr_t *,
	    void *(*)(void *), void *);
	int error;

	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	error = fault_hit(THREAD);
	return error > 0 ? error : real(thread, attr, run, arg);
}
