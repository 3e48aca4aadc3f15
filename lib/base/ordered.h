#ifndef BASE_ORDERED_H
#define BASE_ORDERED_H

#include <stddef.h>

/* Threads that work in any order, and whose results arrive in order. */
struct ordered;

/*
 * ordered_new(n, threads, caller, window, work, arg):
 * Call work(i, thread, ${arg}) once for each i from 0 to ${n} - 1, on
 * ${threads} threads, but at most ${n}.  ${thread} is 0 to threads - 1.  If
 * ${caller} is 1, the caller is thread 0 and works while it waits in
 * ordered_next.  With one thread, all work then happens in ordered_next.  If
 * ${caller} is 0, all threads are started here.
 *
 * Work on i begins only after the caller is done with result i - ${window}.
 * Element i % ${window} of an array is therefore free for result i.
 * ordered_free frees the result.  The program ends if a thread cannot start.
 */
struct ordered *ordered_new(size_t n, int threads, int caller, size_t window,
    void (*work)(size_t i, int thread, void *arg), void *arg);

/*
 * ordered_next(o, i):
 * Wait until work on the next number has returned, and set ${*i} to it.  The
 * next call means that the caller is done with result ${*i}.  Return 1, or 0
 * after the last number.  One thread calls it.
 */
int ordered_next(struct ordered *o, size_t *i);

/*
 * ordered_free(o):
 * Start no more work, wait for the work in progress, and free ${o}.  NULL does
 * nothing.
 */
void ordered_free(struct ordered *o);

#endif
