#ifndef BASE_POOL_H
#define BASE_POOL_H

/*
 * A pool of threads that run the iterations of a loop.  Any thread may run any
 * iteration, so each iteration must write to locations of its own.  Then the
 * result does not depend on the number of threads.
 */
struct pool;

/*
 * pool_new(threads):
 * Return a pool of ${threads} threads, at least 1.  The caller of pool_run
 * counts as one of them, so ${threads} - 1 threads start.  The program ends if
 * one cannot start.  pool_free frees the pool.
 */
struct pool *pool_new(int threads);

/*
 * pool_free(p):
 * Stop and join the threads and free ${p}.  NULL does nothing.  No loop may be
 * running.
 */
void pool_free(struct pool *p);

/* pool_threads(p): Return the number of threads, the caller included. */
int pool_threads(const struct pool *p);

/*
 * pool_run(p, n, part, arg):
 * Call ${part}(i, thread, ${arg}) once for each i from 0 to ${n} - 1, on the
 * caller and the threads of the pool.  Return when all calls have returned.
 * ${thread} is 0 for the caller, and 1 to threads - 1 for the others.  Only one
 * thread at a time may call pool_run, and ${part} must not call it.
 */
void pool_run(struct pool *p, int n, void (*part)(int i, int thread, void *arg),
    void *arg);

#endif
