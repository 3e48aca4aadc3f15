/*
 * Finds the chains of a plan: a bn and the operators behind it that one kernel
 * does.
 */
#include <stdlib.h>

#include "backend/chains.h"
#include "base/mem.h"

struct chains {
	struct task *task;
	int n;
	const struct op_impl *norm;	/* implementation of tails */
	int *readers;			/* [n] number of readers of y */
	int *reader;			/* [n] the last reader */
};

/*
 * Return the only reader of ${t}'s output if it is a ${kind} that no chain
 * has, or NULL.  The tail of a chain is not fused into another task, so its
 * implementation tells.
 */
static struct task *
chains_reader(const struct chains *s, const struct task *t, enum op_kind kind)
{
	struct task *r = &s->task[s->reader[t->index]];

	return s->readers[t->index] == 1 && r->op->kind == kind &&
	    r->fused_into == r->index && r->impl != s->norm ? r : NULL;
}

/* Return the first shift of the output of ${t}, or NULL. */
static struct task *
chains_shift(const struct chains *s, const struct task *t)
{
	for (int j = t->index + 1; j < s->n; j++)
		if (s->task[j].op->kind == OP_SHIFT &&
		    s->task[j].op->in[0] == t->index)
			return &s->task[j];
	return NULL;
}

void
chains_fuse(struct task *t, int into)
{
	t->fused_into = into;
	t->materialized = 0;
	t->reads = 0;
}

/*
 * Make the chain of ${bn}: extend it by an addition and a relu that alone read
 * the output before them.
 */
static void
chains_add(const struct chains *s, struct task *bn)
{
	struct norm *c = xcalloc(1, sizeof(*c));
	struct task *next;

	c->bn = c->tail = bn;
	if ((next = chains_reader(s, bn, OP_ADD)) != NULL &&
	    next->op->nin == 2 && next->op->in[0] != next->op->in[1]) {
		c->add = c->tail = next;
		c->res = next->op->in[0] == bn->index;
	}
	if ((next = chains_reader(s, c->tail, OP_RELU)) != NULL)
		c->relu = c->tail = next;
	if (c->add != NULL)
		chains_fuse(c->add, c->tail->index);
	if (c->relu != NULL)
		chains_fuse(c->relu, c->tail->index);
	chains_fuse(bn, c->tail->index);
	c->tail->materialized = 1;
	c->tail->impl = s->norm;
	c->tail->priv = bn->priv = c;
	c->shift = chains_shift(s, c->tail);
	c->readers = s->readers[c->tail->index];
}

void
chains_find(struct task *task, int n, const struct op_impl *norm,
    int (*takes)(const struct task *bn))
{
	struct chains s = { task, n, norm, xcalloc((size_t)n, sizeof(int)),
		xcalloc((size_t)n, sizeof(int)) };

	for (int i = 0; i < n; i++)
		for (int j = 0; j < task[i].op->nin; j++) {
			s.readers[task[i].op->in[j]]++;
			s.reader[task[i].op->in[j]] = i;
		}
	/*
	 * Go backward: if two bns are added, the later one takes the addition,
	 * and the earlier one becomes its shortcut, which is ready in time.
	 */
	for (int i = n - 1; i >= 0; i--)
		if (task[i].op->kind == OP_BN && task[i].fused_into == i &&
		    (takes == NULL || takes(&task[i])))
			chains_add(&s, &task[i]);
	free(s.readers);
	free(s.reader);
}

struct norm *
chains_of(const struct task *t, const struct op_impl *norm)
{
	return t->impl == norm && t->fused_into == t->index ? t->priv : NULL;
}

void
norm_choose_mask(struct norm *n, int again)
{
	n->saves_mask = !n->tail->no_grad && n->relu != NULL &&
	    (n->add != NULL || (!n->bn->needs_weight_grad && !again));
	n->bn->reads = n->bn->needs_weight_grad ||
	    (n->relu != NULL && !n->saves_mask) ? READS_X : 0;
}

void
norm_release(struct task *t)
{
	free(t->priv);
	t->priv = NULL;
}
