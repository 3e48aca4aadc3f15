/* The pickle VM: its stack, its marks and its memo. */
#include <string.h>

#include "weights/pickle_machine.h"

const unsigned char *
machine_take(struct machine *m, size_t n)
{
	const unsigned char *p = m->p.data + m->at;

	if (n > m->p.n - m->at)
		return NULL;
	m->at += n;
	return p;
}

const char *
machine_push(struct machine *m, struct value *v)
{
	struct value **stack = heap_room(m->p.heap, m->stack, m->n, &m->cap,
	    sizeof(*stack));

	/* ${v} is NULL if the caller's heap_get failed. */
	if (stack == NULL || v == NULL)
		return FULL;
	m->stack = stack;
	stack[m->n++] = v;
	return NULL;
}

const char *
machine_push_new(struct machine *m, struct value from)
{
	struct value *v = heap_get(m->p.heap, sizeof(*v));

	if (v != NULL)
		*v = from;
	return machine_push(m, v);
}

size_t
machine_above(const struct machine *m)
{
	return m->n - (m->marks > 0 ? m->mark[m->marks - 1] : 0);
}

struct value *
machine_pop(struct machine *m)
{
	return m->stack[--m->n];
}

const char *
machine_push_text(struct machine *m, size_t n)
{
	const unsigned char *p;
	struct value v = { .kind = VALUE_TEXT };

	TAKE(m, n, p);
	v.u.text.s = heap_text(m->p.heap, (const char *)p, n);
	v.u.text.n = n;
	return v.u.text.s != NULL ? machine_push_new(m, v) : FULL;
}

const char *
machine_mark(struct machine *m)
{
	size_t *mark = heap_room(m->p.heap, m->mark, m->marks, &m->marks_cap,
	    sizeof(*mark));

	if (mark == NULL)
		return FULL;
	m->mark = mark;
	mark[m->marks++] = m->n;
	return NULL;
}

/*
 * Picklers number memo entries from 0, so every valid index is less than the
 * length of the pickle.  This bounds the memo.
 */
const char *
machine_put(struct machine *m, size_t i)
{
	WANT(m, 1);
	if (i >= m->p.n)
		return "a memo index larger than the pickle";
	while (m->memos <= i) {
		struct value **memo = heap_room(m->p.heap, m->memo, m->memos,
		    &m->memos_cap, sizeof(*memo));

		if (memo == NULL)
			return FULL;
		m->memo = memo;
		memo[m->memos++] = NULL;
	}
	m->memo[i] = m->stack[m->n - 1];
	return NULL;
}

const char *
machine_get(struct machine *m, size_t i)
{
	if (i >= m->memos || m->memo[i] == NULL)
		return "a memo entry that was never stored";
	return machine_push(m, m->memo[i]);
}

const char *
machine_tuple(struct machine *m, size_t n)
{
	struct value v = { .kind = VALUE_TUPLE };

	WANT(m, n);
	if (n > 0) {
		v.u.of.item = heap_get(m->p.heap, n * sizeof(*v.u.of.item));
		if (v.u.of.item == NULL)
			return FULL;
		memcpy(v.u.of.item, m->stack + m->n - n,
		    n * sizeof(*v.u.of.item));
	}
	v.u.of.n = v.u.of.cap = n;
	m->n -= n;
	return machine_push_new(m, v);
}

const char *
machine_join(struct machine *m, size_t n, enum value_kind kind)
{
	struct value *to;

	WANT(m, n + 1);
	to = m->stack[m->n - n - 1];
	if (kind == VALUE_DICT && n % 2 != 0)
		return "a key without a value";
	if (to->kind != kind && to->kind != VALUE_OTHER)
		return kind == VALUE_DICT ? "members for a value that is not a dict" :
		    "members for a value that is not a list";
	/* A VALUE_OTHER drops the values. */
	for (size_t i = m->n - n; i < m->n && to->kind == kind; i++)
		if (pickle_append(&m->p, to, m->stack[i]) != 0)
			return FULL;
	m->n -= n;
	return NULL;
}
