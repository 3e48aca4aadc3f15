#ifndef THREADS_H
#define THREADS_H

#include "comm/comm.h"

/*
 * comm_threads(size, body, arg):
 * Run ${body}(comm, ${arg}) as ranks 0 to ${size} - 1, one thread each, in this
 * process, and wait for all of them.  Collectives then work without mpirun.
 */
void comm_threads(int size, void (*body)(struct comm *, void *), void *arg);

/* comm_threads_sent(c): Return the bytes that this rank has sent so far,
 * including those through communicators split from ${c}. */
size_t comm_threads_sent(const struct comm *c);

#endif
