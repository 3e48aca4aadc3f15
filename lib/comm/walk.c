/* A model that executes the lists of all ranks. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "comm/walk.h"

/* A message on its way to a rank. */
struct walk_message {
	int from, taken;
	size_t bytes;
	double at;			/* when its last byte arrives */
};

struct walk_inbox {
	size_t n, cap, first;		/* those before ${first} are taken */
	struct walk_message *message;
};

struct walk_rank {
	const struct collective *list;
	size_t next;			/* first operation of the group */
	int sent;			/* 1: its messages are sent */
	double now;
	struct walk_inbox in;
};

struct walk_state {
	const struct walk_costs *costs;
	struct walk_rank *rank;
	struct walk *result;
	struct walk_message **taken;	/* scratch of walk_receive */
	size_t taken_cap;
};

/* Return the end of the group of operations at ${at}: its WAIT, or the end. */
static size_t
walk_group_end(const struct collective *l, size_t at)
{
	while (at < l->n && l->op[at].kind != COLLECTIVE_WAIT)
		at++;
	return at;
}

static double
walk_transfer(const struct walk_costs *c, int from, int to, size_t bytes)
{
	return c->transfer == NULL ? 0 : c->transfer(c->arg, from, to, bytes);
}

/* Execute the additions of the group, and put its messages into the inboxes. */
static void
walk_send(struct walk_state *w, int r, size_t end, size_t *messages,
    size_t *bytes)
{
	struct walk_rank *me = &w->rank[r];
	double now = me->now;

	for (size_t i = me->next; i < end; i++) {
		const struct collective_op *o = &me->list->op[i];
		struct walk_inbox *in = &w->rank[o->rank].in;

		if (o->kind == COLLECTIVE_ADD && w->costs->add != NULL)
			now += w->costs->add(w->costs->arg, o->n);
		if (o->kind != COLLECTIVE_SEND)
			continue;
		now += walk_transfer(w->costs, r, o->rank, o->n);
		in->message = array_reserve(in->message, in->n, &in->cap,
		    sizeof(*in->message));
		in->message[in->n++] = (struct walk_message){ r, 0, o->n, now +
			w->costs->latency(w->costs->arg, r, o->rank) };
		(*messages)++;
		*bytes += o->n;
	}
	me->now = now;
	me->sent = 1;
}

/* Return the first message from ${from} that is not taken, or NULL. */
static struct walk_message *
walk_find(struct walk_inbox *in, int from)
{
	for (size_t i = in->first; i < in->n; i++)
		if (in->message[i].from == from && !in->message[i].taken)
			return &in->message[i];
	return NULL;
}

/*
 * Receive the messages of the group of rank ${r}.  Return 1, 0 if one has not
 * been sent yet, or -1 after a message.
 */
static int
walk_receive(struct walk_state *w, int r, size_t end)
{
	struct walk_rank *me = &w->rank[r];
	size_t n = 0;
	double now = 0;
	int result = 1;

	for (size_t i = me->next; i < end && result == 1; i++) {
		const struct collective_op *o = &me->list->op[i];
		struct walk_message *m;

		if (o->kind != COLLECTIVE_RECEIVE)
			continue;
		m = walk_find(&me->in, o->rank);
		if (m == NULL) {
			result = 0;
		} else if (m->bytes != o->n) {
			result = fail("rank %d sends %zu bytes to rank %d, "
			    "which expects %zu", o->rank, m->bytes, r, o->n);
		} else {
			/* Messages occupy the receiver one after another. */
			double least = now + walk_transfer(w->costs, o->rank, r,
			    o->n);

			m->taken = 1;
			w->taken = array_reserve(w->taken, n, &w->taken_cap,
			    sizeof(*w->taken));
			w->taken[n++] = m;
			now = m->at > least ? m->at : least;
		}
	}
	while (result != 1 && n > 0)
		w->taken[--n]->taken = 0;
	if (result == 1 && now > me->now)
		me->now = now;
	while (me->in.first < me->in.n && me->in.message[me->in.first].taken)
		me->in.first++;
	return result;
}

/* Execute groups of rank ${r}.  Return 1 if it did any, 0, or -1. */
static int
walk_advance(struct walk_state *w, int r)
{
	struct walk_rank *me = &w->rank[r];
	size_t messages = 0, bytes = 0;
	int done = 1, any = 0;

	while (done == 1 && me->next < me->list->n) {
		size_t end = walk_group_end(me->list, me->next);

		if (!me->sent)
			walk_send(w, r, end, &messages, &bytes);
		done = walk_receive(w, r, end);
		if (done == 1) {
			me->next = end + 1;
			me->sent = 0;
		}
		any |= done == 1 || messages > 0;
	}
	w->result->all_messages += messages;
	w->result->all_bytes += bytes;
	return done < 0 ? -1 : any;
}

/* Count the messages and bytes that one rank sends. */
static void
walk_count(const struct collective *l, struct walk *w)
{
	size_t messages = 0, bytes = collective_sent(l);

	for (size_t i = 0; i < l->n; i++)
		messages += l->op[i].kind == COLLECTIVE_SEND;
	w->messages = messages > w->messages ? messages : w->messages;
	w->bytes = bytes > w->bytes ? bytes : w->bytes;
}

/* Return 0 if every rank is done and every message was received. */
static int
walk_verify(const struct walk_state *w, int ranks)
{
	for (int r = 0; r < ranks; r++) {
		const struct walk_rank *me = &w->rank[r];

		if (me->next < me->list->n)
			return fail("rank %d waits for a message that no rank "
			    "sends", r);
		if (me->in.first < me->in.n)
			return fail("rank %d sends a message that rank %d does "
			    "not receive", me->in.message[me->in.first].from,
			    r);
	}
	return 0;
}

int
walk_lists(const struct collective *list, int ranks,
    const struct walk_costs *c, double *start, struct walk *w)
{
	struct walk_state s = { .costs = c, .result = w };
	int any = 1, bad = 0;

	*w = (struct walk){ 0 };
	s.rank = xcalloc((size_t)ranks, sizeof(*s.rank));
	for (int r = 0; r < ranks; r++) {
		s.rank[r].list = &list[r];
		s.rank[r].now = start != NULL ? start[r] : 0;
		walk_count(&list[r], w);
	}
	while (any && !bad) {
		any = 0;
		for (int r = 0; r < ranks && !bad; r++) {
			int moved = walk_advance(&s, r);

			any |= moved > 0;
			bad = moved < 0;
		}
	}
	bad = bad || walk_verify(&s, ranks) != 0;
	for (int r = 0; r < ranks; r++) {
		if (start != NULL)
			start[r] = s.rank[r].now;
		w->end = s.rank[r].now > w->end ? s.rank[r].now : w->end;
		free(s.rank[r].in.message);
	}
	free(s.taken);
	free(s.rank);
	return bad ? -1 : 0;
}
