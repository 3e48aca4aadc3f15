/* Lists of operations: building them, and executing them on a transport. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "comm/comm.h"

static void
collective_append(struct collective *l, struct collective_op op)
{
	l->op = array_reserve(l->op, l->n, &l->cap, sizeof(*l->op));
	l->op[l->n++] = op;
}

void
collective_send(struct collective *l, int rank, struct address from,
    size_t bytes)
{
	collective_append(l, (struct collective_op){ COLLECTIVE_SEND, rank,
		.from = from, .n = bytes });
}

void
collective_receive(struct collective *l, int rank, struct address to,
    size_t bytes)
{
	collective_append(l, (struct collective_op){ COLLECTIVE_RECEIVE, rank,
		.to = to, .n = bytes });
}

void
collective_wait(struct collective *l)
{
	collective_append(l, (struct collective_op){
	    .kind = COLLECTIVE_WAIT });
}

void
collective_local(struct collective *l, enum collective_kind kind,
    struct address to, struct address from, size_t n)
{
	if (n > 0)
		collective_append(l, (struct collective_op){ kind, 0, to, from,
			n });
}

/* ---- small collectives ---- */

static const struct address zero = { 0, 0 };

/* After the round with distance d, a rank knows of 2 d ranks. */
void
collective_barrier(struct collective *l, int rank, int size)
{
	for (int step = 1; step < size; step *= 2) {
		collective_send(l, (rank + step) % size, zero, 0);
		collective_receive(l, (rank - step + size) % size, zero, 0);
		collective_wait(l);
	}
}

/* In the round with distance d, ranks below d, counted from the root, send to
 * the rank that is d above them. */
void
collective_broadcast(struct collective *l, int rank, int size, int root,
    size_t bytes)
{
	int me = (rank - root + size) % size;

	for (int step = 1; step < size; step *= 2)
		if (me < step && me + step < size) {
			collective_send(l, (me + step + root) % size, zero,
			    bytes);
			collective_wait(l);
		} else if (me >= step && me < 2 * step) {
			collective_receive(l, (me - step + root) % size, zero,
			    bytes);
			collective_wait(l);
		}
}

void
collective_spread(struct collective *l, int rank, int size, size_t bytes)
{
	static const struct address other = { 1, 0 };

	for (int step = 1; step < size; step *= 2) {
		collective_send(l, (rank + step) % size, zero, bytes);
		collective_receive(l, (rank - step + size) % size, other,
		    bytes);
		collective_wait(l);
		collective_local(l, COLLECTIVE_ADD, zero, other, 1);
	}
}

/*
 * A message of bytes ${from} to ${to} - 1 of buffer 0, or none if it is empty.
 */
static void
collective_block(struct collective *l, enum collective_kind kind, int rank,
    size_t from, size_t to)
{
	struct address at = { 0, from };

	if (to > from && kind == COLLECTIVE_SEND)
		collective_send(l, rank, at, to - from);
	else if (to > from)
		collective_receive(l, rank, at, to - from);
}

void
collective_gather(struct collective *l, int p, int n, int step,
    const int *rank, const size_t *start, size_t base)
{
	int count = step < n - step ? step : n - step;
	int to = (p - step + n) % n, of = (p + step) % n;

	for (int receive = 0; receive < 2; receive++) {
		enum collective_kind kind = receive ? COLLECTIVE_RECEIVE :
		    COLLECTIVE_SEND;
		int first = receive ? of : p, peer = receive ? of : to;
		int end = first + count < n ? first + count : n;

		peer = rank != NULL ? rank[peer] : peer;
		collective_block(l, kind, peer, base + start[first],
		    base + start[end]);
		/* The blocks that continue at the first position. */
		collective_block(l, kind, peer, base + start[0],
		    base + start[first + count - end]);
	}
}

void
collective_gather_all(struct collective *l, int rank, int size,
    const size_t *start)
{
	for (int step = 1; step < size; step *= 2) {
		collective_gather(l, rank, size, step, NULL, start, 0);
		collective_wait(l);
	}
}

int
collective_peers(int ranks, int each)
{
	int n = 0;

	for (int step = 1; step < ranks; step *= 2)
		n += each;
	return n < ranks ? n : ranks - 1;
}

void
collective_free(struct collective *l)
{
	free(l->op);
	*l = (struct collective){ 0 };
}

size_t
collective_sent(const struct collective *l)
{
	size_t sum = 0;

	for (size_t i = 0; i < l->n; i++)
		sum += l->op[i].kind == COLLECTIVE_SEND ? l->op[i].n : 0;
	return sum;
}

/* ---- execution ---- */

static void *
collective_at(const struct collective_memory *m, struct address p)
{
	return (char *)m->buffer[p.buffer] + p.at;
}

/* Execute an operation other than a message. */
static void
collective_do(const struct collective_op *o, const struct collective_memory *m)
{
	void *to = collective_at(m, o->to);
	const void *from = collective_at(m, o->from);
	int packed = m->wire != NULL && m->wire->elem > 0;

	if (o->kind == COLLECTIVE_PACK)
		m->wire->pack(to, from, o->n);
	else if (o->kind == COLLECTIVE_UNPACK)
		m->wire->unpack(to, from, o->n);
	else if (o->kind == COLLECTIVE_ADD && packed)
		m->wire->add(to, from, o->n);
	else if (o->kind == COLLECTIVE_ADD)
		m->add(m->arg, to, from, o->n);
	else if (to != from && m->device != NULL)
		m->device->copy(m->arg, to, from, o->n * m->elem);
	else if (to != from)
		memcpy(to, from, o->n * m->elem);
}

/* Append message ${o}, whose bytes are at ${data}, to ${*list} of ${*n}. */
static void
collective_message(struct message **list, size_t *cap, int *n,
    const struct collective_op *o, void *data)
{
	*list = array_reserve(*list, (size_t)*n, cap, sizeof(**list));
	(*list)[(*n)++] = (struct message){ o->rank, data, o->n };
}

/* Exchange the messages in c->send and c->receive. */
static int
collective_exchange(struct comm *c, const struct collective_memory *m,
    int sends, int receives)
{
	return m->device != NULL ? m->device->exchange(m->arg, c->send, sends,
	    c->receive, receives) : comm_exchange(c, c->send, sends, c->receive,
	    receives);
}

int
collective_start(struct comm *c, struct exchange *x, const struct collective *l,
    const struct collective_memory *m)
{
	int sends = 0, receives = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct collective_op *o = &l->op[i];

		if (o->kind == COLLECTIVE_SEND) {
			collective_message(&c->send, &c->send_cap, &sends, o,
			    collective_at(m, o->from));
		} else if (o->kind == COLLECTIVE_RECEIVE) {
			collective_message(&c->receive, &c->receive_cap,
			    &receives, o, collective_at(m, o->to));
		} else if (o->kind != COLLECTIVE_WAIT) {
			collective_do(o, m);
		} else {
			if (collective_exchange(c, m, sends, receives) != 0)
				return -1;
			sends = receives = 0;
		}
	}
	if (m->device != NULL)
		return collective_exchange(c, m, sends, receives);
	return sends + receives > 0 ? comm_start(c, x, c->send, sends,
	    c->receive, receives) : 0;
}

int
collective_run(struct comm *c, const struct collective *l,
    const struct collective_memory *m)
{
	return collective_start(c, &c->now, l, m) != 0 ? -1 :
	    comm_wait(&c->now);
}
