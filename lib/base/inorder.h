#ifndef BASE_INORDER_H
#define BASE_INORDER_H

#include "base/pool.h"

/*
 * in_order(p, n, window, work, done, arg):
 * Call work(i, thread, ${arg}) for i = 0 to ${n} - 1 on the threads of ${p},
 * and done(i, ${arg}) for each i in turn, one at a time, on whatever thread is
 * free.  Work on i begins only once done(i - ${window}) has returned, which
 * bounds what waits in between.  After a done that returns non-zero no other
 * is called and no more work begins.  Return what the last done returned.
 */
int in_order(struct pool *p, int n, int window,
    void (*work)(int i, int thread, void *arg), int (*done)(int i, void *arg),
    void *arg);

#endif
