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
collective_send(struct collective *l, int rank, struct address from, size_t bytes)
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
			if (comm_exchange(c, c->send, sends, c->receive,
			    receives) != 0)
				return -1;
			sends = receives = 0;
		}
	}
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
