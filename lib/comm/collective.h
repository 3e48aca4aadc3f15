#ifndef COMM_COLLECTIVE_H
#define COMM_COLLECTIVE_H

/*
 * A collective as data: the operations of one rank, in order, as in libNBC
 * (Hoefler, Lumsdaine and Rehm 2007).  A list follows from rank, number of ranks
 * and sizes alone and holds no pointers, so it can be read without executing it.
 *
 * SEND and RECEIVE up to the next WAIT are one exchange, which that WAIT starts
 * and finishes.  Other operations are executed in turn.  Messages behind the last
 * WAIT are an exchange that the list leaves under way.
 */

#include <stddef.h>

#include "comm/wire.h"

struct comm;
struct exchange;

/* Byte ${at} of buffer number ${buffer}. */
struct address { int buffer; size_t at; };

enum collective_kind { COLLECTIVE_SEND, COLLECTIVE_RECEIVE, COLLECTIVE_WAIT,
    COLLECTIVE_ADD, COLLECTIVE_COPY, COLLECTIVE_PACK, COLLECTIVE_UNPACK };

struct collective_op {
	enum collective_kind kind;
	int rank;			/* the peer of a message */
	struct address to, from;	/* SEND lacks to, RECEIVE lacks from */
	size_t n;			/* bytes of a message, else elements */
};

struct collective {
	size_t n, cap;
	struct collective_op *op;
};

/*
 * Append an operation.  collective_local appends ADD, COPY, PACK or UNPACK of
 * ${n} elements, or nothing if ${n} is 0.  PACK converts elements to a message of
 * the wire.  UNPACK and ADD read one, or plain elements if the wire does not
 * convert.
 */
void collective_send(struct collective *l, int rank, struct address from,
    size_t bytes);
void collective_receive(struct collective *l, int rank, struct address to,
    size_t bytes);
void collective_wait(struct collective *l);
void collective_local(struct collective *l, enum collective_kind kind,
    struct address to, struct address from, size_t n);

/* collective_free(l): free the operations and empty ${l}. */
void collective_free(struct collective *l);

/* collective_sent(l): the bytes of all messages that this rank sends. */
size_t collective_sent(const struct collective *l);

/* The buffers and the element type that a list is executed on. */
struct collective_memory {
	void *const *buffer;		/* by number */
	size_t elem;			/* bytes of an element */
	const struct wire *wire;	/* NULL: messages are plain elements */
	void (*add)(void *arg, void *sum, const void *x, size_t n);
	void *arg;			/* of add */
};

/*
 * collective_start(c, x, l, m): execute ${l}, and start the exchange at its end as
 * ${x}; see comm_start.  ${l} may change once it has returned.
 * collective_run(c, l, m): the same, and wait.
 * Return 0, or -1 after a message.
 */
int collective_run(struct comm *c, const struct collective *l,
    const struct collective_memory *m);
int collective_start(struct comm *c, struct exchange *x,
    const struct collective *l, const struct collective_memory *m);

#endif
