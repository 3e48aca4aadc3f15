#ifndef BASE_ORDERED_H
#define BASE_ORDERED_H

#include <stddef.h>

/* Work that threads do in any order, and whose results come in order. */
struct ordered;

/*
 * ordered_new(n, threads, caller, window, work, arg):
 * Let ${threads} threads, but no more than ${n}, call work(i, thread, ${arg})
 * for i = 0 to ${n} - 1, each once; thread is 0 to ${threads} - 1.  If
 * ${caller} is 1, the caller is thread 0 and works while it waits in
 * ordered_next, so one thread works only when it is asked; if it is 0, the
 * caller is none of them.  Work on i begins only once the caller is done with
 * result i - ${window}, so place i % ${window} of an array is free for result
 * i.  Exit if a thread cannot be started.
 */
struct ordered *ordered_new(size_t n, int threads, int caller, size_t window,
    void (*work)(size_t i, int thread, void *arg), void *arg);

/*
 * ordered_next(o, i):
 * Wait until work on the next number has returned, and set ${*i} to it.  The
 * caller is done with result ${*i} at its next call.  Return 1, or 0 after the
 * last number.
 */
int ordered_next(struct ordered *o, size_t *i);

/* ordered_free(o): begin no more work, wait for what was begun, and free ${o}.
 * NULL does nothing. */
void ordered_free(struct ordered *o);

#endif
