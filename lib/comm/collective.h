#ifndef COMM_COLLECTIVE_H
#define COMM_COLLECTIVE_H

/*
 * A collective as data: the operations of one rank, in order, as in libNBC
 * (Hoefler, Lumsdaine and Rehm 2007).  A list depends only on the rank, the
 * number of ranks and the sizes.  It contains no pointers, so that tests can
 * read it without executing it.
 *
 * SEND and RECEIVE operations before a WAIT are started and completed together
 * by that WAIT.  The other operations are executed in turn.  Messages after the
 * last WAIT are started together and stay in flight.
 */

#include <stddef.h>

#include "comm/wire.h"

struct comm;
struct exchange;

/* Byte ${at} of buffer number ${buffer}. */
struct address { int buffer; size_t at; };

/* The kinds of operations; WAIT has no arguments. */
enum collective_kind { COLLECTIVE_SEND, COLLECTIVE_RECEIVE, COLLECTIVE_WAIT,
    COLLECTIVE_ADD, COLLECTIVE_COPY, COLLECTIVE_PACK, COLLECTIVE_UNPACK };

/* An operation. */
struct collective_op {
	enum collective_kind kind;
	int rank;			/* the peer of a message */
	struct address to, from;	/* unused: SEND's to, RECEIVE's from */
	size_t n;			/* bytes of a message, else elements */
};

/* A list of operations.  Initialize it with zeros; collective_free frees it. */
struct collective {
	size_t n, cap;
	struct collective_op *op;
};

/*
 * collective_send, collective_receive, collective_wait: append an operation to
 * ${l}.  ${rank} is the peer; ${from} and ${to} give ${bytes} of a buffer.
 * collective_local appends ADD, COPY, PACK or UNPACK of ${n} elements, or
 * nothing if ${n} is 0.  PACK converts elements to a message of the
 * communication dtype.  UNPACK and ADD read such a message, or unconverted
 * elements if the dtype does not convert.
 */
void collective_send(struct collective *l, int rank, struct address from,
    size_t bytes);
void collective_receive(struct collective *l, int rank, struct address to,
    size_t bytes);
void collective_wait(struct collective *l);
void collective_local(struct collective *l, enum collective_kind kind,
    struct address to, struct address from, size_t n);

/*
 * collective_barrier(l, rank, size): append a barrier, by dissemination.
 * collective_broadcast(l, rank, size, root, bytes): append a broadcast of the
 * first ${bytes} of buffer 0, along a binomial tree.
 * collective_spread(l, rank, size, bytes): append an all-reduce of buffer 0,
 * one element of ${bytes}, by an addition that counts an operand twice without
 * harm, such as the maximum.  Buffer 1 receives.
 * Each appends at most log2 of ${size}, rounded up, messages of this rank.
 */
void collective_barrier(struct collective *l, int rank, int size);
void collective_broadcast(struct collective *l, int rank, int size, int root,
    size_t bytes);
void collective_spread(struct collective *l, int rank, int size, size_t bytes);

/*
 * collective_gather(l, p, n, step, rank, start, base):
 * Append the messages of one round of an all-gather of n blocks, one for each
 * position, as in Bruck et al. 1997.  Before the round, position ${p} has
 * ${step} blocks, its own and those that follow it in a circle.  After it,
 * there are twice as many.
 * Position q belongs to rank[q], or to rank q if ${rank} is NULL.  Its block is
 * bytes start[q] to start[q + 1] - 1 of buffer 0, each plus ${base}.  Rounds
 * with ${step} 1, 2, 4, ... below ${n}, each followed by collective_wait,
 * gather all blocks.
 */
void collective_gather(struct collective *l, int p, int n, int step,
    const int *rank, const size_t *start, size_t base);

/*
 * collective_gather_all(l, rank, size, start): append all rounds for blocks of
 * ranks in their order.
 */
void collective_gather_all(struct collective *l, int rank, int size,
    const size_t *start);

/*
 * collective_peers(ranks, each): return the largest number of peers of a rank
 * in lists of log2 ${ranks} rounds, rounded up, with ${each} new peers in a
 * round.
 */
int collective_peers(int ranks, int each);

/* collective_free(l): free the operations and empty ${l}. */
void collective_free(struct collective *l);

/* collective_sent(l): return the bytes of all messages that this rank sends. */
size_t collective_sent(const struct collective *l);

struct message;

/*
 * How a list runs in the memory of a device.  The functions get the arg of
 * struct collective_memory.  copy and exchange may queue their work in order.
 */
struct collective_device {
	/* Return device memory, or NULL after a message; free accepts NULL. */
	void *(*alloc)(void *arg, size_t bytes);
	void (*free)(void *arg, void *p);
	void (*copy)(void *arg, void *to, const void *from, size_t bytes);
	/* As comm_exchange. */
	int (*exchange)(void *arg, const struct message *send, int sends,
	    const struct message *receive, int receives);
};

/* The buffers and the element type that a list is executed on. */
struct collective_memory {
	void *const *buffer;		/* [buffers] by number */
	size_t elem;			/* bytes of an element */
	const struct wire *wire;	/* NULL: messages are not converted */
	/* sum[i] += x[i] for ${n} elements */
	void (*add)(void *arg, void *sum, const void *x, size_t n);
	void *arg;			/* passed to add */
	const struct collective_device *device;	/* NULL: host memory */
};

/*
 * collective_start(c, x, l, m):
 * Execute ${l} on ${m}, then start the messages after its last WAIT as ${x}
 * (comm_start).  ${l} and ${m} may change after the return; the buffers must
 * stay valid until ${x} completes.  With m->device nothing is in flight after
 * the return but what the device has queued.  Return 0, or -1 after a message.
 * collective_run(c, l, m): collective_start and comm_wait.
 * Collective: all ranks call both, with lists that match.
 */
int collective_run(struct comm *c, const struct collective *l,
    const struct collective_memory *m);
int collective_start(struct comm *c, struct exchange *x,
    const struct collective *l, const struct collective_memory *m);

#endif
