#ifndef BASE_POOL_H
#define BASE_POOL_H

/*
 * A pool of threads that runs loops.  Which thread does which part is open,
 * so the parts of a loop must write to places of their own; then the result
 * does not depend on the number of threads.
 */
struct pool;

/*
 * pool_new(threads): ${threads} counts the caller, so 1 starts none.
 * Dies if a thread cannot be started.
 */
struct pool *pool_new(int threads);
void pool_free(struct pool *p);
int pool_threads(const struct pool *p);

/*
 * pool_run(p, n, part, arg):
 * Call ${part}(i, thread, ${arg}) for i = 0 to ${n} - 1, each once, on the
 * caller and the pool's threads, and return when all have returned;
 * ${thread} is 0 to threads - 1.  One thread at a time may call pool_run.
 */
void pool_run(struct pool *p, int n, void (*part)(int i, int thread, void *arg),
    void *arg);

#endif
