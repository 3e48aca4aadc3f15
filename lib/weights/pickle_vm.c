/* The pickle VM: its stack, its marks and its memo. */
#include <string.h>

#include "weights/pickle_vm.h"

const unsigned char *
pickle_vm_take(struct pickle_vm *m, size_t n)
{
	const unsigned char *p = m->p.data + m->at;

	if (n > m->p.n - m->at)
		return NULL;
	m->at += n;
	return p;
}

const char *
pickle_vm_push(struct pickle_vm *m, struct value *v)
{
	struct value **stack = arena_grow(m->p.arena, m->stack, m->n, &m->cap,
	    sizeof(*stack));

	/* ${v} is NULL if the caller's arena_get failed. */
	if (stack == NULL || v == NULL)
		return FULL;
	m->stack = stack;
	stack[m->n++] = v;
	return NULL;
}

const char *
pickle_vm_push_new(struct pickle_vm *m, struct value from)
{
	struct value *v = arena_get(m->p.arena, sizeof(*v));

	if (v != NULL)
		*v = from;
	return pickle_vm_push(m, v);
}

size_t
pickle_vm_above_mark(const struct pickle_vm *m)
{
	return m->n - (m->marks > 0 ? m->mark[m->marks - 1] : 0);
}

struct value *
pickle_vm_pop(struct pickle_vm *m)
{
	return m->stack[--m->n];
}

const char *
pickle_vm_push_text(struct pickle_vm *m, size_t n)
{
	const unsigned char *p;
	struct value v = { .kind = VALUE_TEXT };

	TAKE(m, n, p);
	v.u.text.s = arena_text(m->p.arena, (const char *)p, n);
	v.u.text.n = n;
	return v.u.text.s != NULL ? pickle_vm_push_new(m, v) : FULL;
}

const char *
pickle_vm_mark(struct pickle_vm *m)
{
	size_t *mark = arena_grow(m->p.arena, m->mark, m->marks, &m->marks_cap,
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
pickle_vm_put(struct pickle_vm *m, size_t i)
{
	WANT(m, 1);
	if (i >= m->p.n)
		return "a memo index larger than the pickle";
	while (m->memos <= i) {
		struct value **memo = arena_grow(m->p.arena, m->memo, m->memos,
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
pickle_vm_get(struct pickle_vm *m, size_t i)
{
	if (i >= m->memos || m->memo[i] == NULL)
		return "a memo entry that was never stored";
	return pickle_vm_push(m, m->memo[i]);
}

const char *
pickle_vm_tuple(struct pickle_vm *m, size_t n)
{
	struct value v = { .kind = VALUE_TUPLE };

	WANT(m, n);
	if (n > 0) {
		v.u.of.item = arena_get(m->p.arena, n * sizeof(*v.u.of.item));
		if (v.u.of.item == NULL)
			return FULL;
		memcpy(v.u.of.item, m->stack + m->n - n,
		    n * sizeof(*v.u.of.item));
	}
	v.u.of.n = v.u.of.cap = n;
	m->n -= n;
	return pickle_vm_push_new(m, v);
}

const char *
pickle_vm_append(struct pickle_vm *m, size_t n, enum value_kind kind)
{
	struct value *to;

	WANT(m, n + 1);
	to = m->stack[m->n - n - 1];
	if (kind == VALUE_DICT && n % 2 != 0)
		return "a key without a value";
	if (to->kind != kind && to->kind != VALUE_OTHER)
		return kind == VALUE_DICT ? "members for a value that is not a "
		    "dict" : "members for a value that is not a list";
	/* A VALUE_OTHER drops the values. */
	for (size_t i = m->n - n; i < m->n && to->kind == kind; i++)
		if (pickle_append(&m->p, to, m->stack[i]) != 0)
			return FULL;
	m->n -= n;
	return NULL;
}
