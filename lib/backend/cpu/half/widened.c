/*
 * An operator by its fp32 loops: what is bf16 is widened into the scratch
 * memory before, and what they write is rounded after.
 */
#include <string.h>

#include "backend/cpu/half/half.h"

static const struct op_impl *
plain(const struct task *t)
{
	return cpu_ops[t->op->kind];
}

/* Bytes of the copy of an activation; 0 if it is fp32 as it is. */
static size_t
copy_bytes(const struct dims *d)
{
	return half_is(d) ? (cpu_floats(d) * sizeof(float) + 63) / 64 * 64 : 0;
}

static size_t
own_scratch(const struct task *t)
{
	size_t own = plain(t)->scratch != NULL ? plain(t)->scratch(t) : 0;

	return (own + 63) / 64 * 64;
}

/* Inputs and output, or their gradients, or both. */
static size_t
scratch(const struct task *t)
{
	size_t all = copy_bytes(&t->out);

	for (int j = 0; j < t->op->nin; j++)
		all += copy_bytes(&t->in[j]);
	return own_scratch(t) + (t->idle ? 1 : 2) * all;
}

static int
prepare(struct task *t)
{
	t->reads = plain(t)->reads;
	return plain(t)->prepare != NULL ? plain(t)->prepare(t) : 0;
}

static void
release(struct task *t)
{
	if (plain(t)->release != NULL)
		plain(t)->release(t);
}

static size_t
saved(const struct task *t)
{
	return plain(t)->saved != NULL ? plain(t)->saved(t) : 0;
}

static size_t
kept(const struct task *t)
{
	return plain(t)->kept != NULL ? plain(t)->kept(t) : 0;
}

/* Room for a copy, from ${*at} on; or ${x} itself where none is needed. */
static void *
room(char **at, const struct dims *d, const void *x)
{
	void *p = *at;

	if (!half_is(d) || x == NULL)
		return (void *)x;
	*at += copy_bytes(d);
	return p;
}

static void *
widened(struct task *t, char **at, const struct dims *d, const void *x)
{
	void *p = room(at, d, x);

	if (p != x)
		half_widen(t, d, p, x);
	return p;
}

/* The fp32 loops may look at the task from what they keep of it: it is that
 * task that they find changed. */
static void
forward(struct task *t)
{
	const struct task was = *t;
	char *at = (char *)t->scratch + own_scratch(t);

	for (int j = 0; j < t->op->nin; j++)
		t->x[j] = widened(t, &at, &t->in[j], was.x[j]);
	t->y = room(&at, &t->out, was.y);
	plain(t)->forward(t);
	if (t->y != was.y)
		half_narrow(t, &t->out, was.y, t->y, 0);
	*t = was;
}

static void
backward(struct task *t)
{
	const struct task was = *t;
	char *at = (char *)t->scratch + own_scratch(t);

	if (plain(t)->backward == NULL)
		return;
	for (int j = 0; j < t->op->nin; j++) {
		if (task_reads(t) & READS_X)
			t->x[j] = widened(t, &at, &t->in[j], was.x[j]);
		t->dx[j] = room(&at, &t->in[j], was.dx[j]);
		if (t->dx[j] != was.dx[j])
			t->accumulate[j] = 0;
	}
	if (task_reads(t) & READS_Y)
		t->y = widened(t, &at, &t->out, was.y);
	t->dy = widened(t, &at, &t->out, was.dy);
	plain(t)->backward(t);
	for (int j = 0; j < t->op->nin; j++)
		if (t->dx[j] != was.dx[j])
			half_narrow(t, &t->in[j], was.dx[j], t->dx[j],
			    was.accumulate[j]);
	*t = was;
}

static void
describe(const struct task *t, char *text, size_t size)
{
	if (plain(t)->describe != NULL)
		plain(t)->describe(t, text, size);
}

const struct op_impl half_widened = {
	.prepare = prepare, .release = release,
	.saved = saved, .scratch = scratch, .kept = kept, .forward = forward,
	.backward = backward, .describe = describe,
};
