/*
 * Run an operator by its fp32 functions.  Widen bf16 activations into the
 * scratch memory first, and round the results afterwards.
 */
#include <string.h>

#include "backend/cpu/bf16/bf16.h"

static const struct op_impl *
bf16_fallback_fp32(const struct task *t)
{
	return cpu_ops[t->op->kind];
}

/* Bytes of the copy of an activation; 0 if it is fp32 already. */
static size_t
bf16_fallback_copy_bytes(const struct dims *d)
{
	return bf16_is(d) ? (cpu_floats(d) * sizeof(float) + 63) / 64 * 64 : 0;
}

static size_t
bf16_fallback_own_scratch(const struct task *t)
{
	size_t own = bf16_fallback_fp32(t)->scratch != NULL ?
	    bf16_fallback_fp32(t)->scratch(t) : 0;

	return (own + 63) / 64 * 64;
}

/*
 * Scratch: that of the fp32 operator, then copies of inputs and output, and of
 * their gradients.
 */
static size_t
bf16_fallback_scratch(const struct task *t)
{
	size_t all = bf16_fallback_copy_bytes(&t->out);

	for (int j = 0; j < t->op->nin; j++)
		all += bf16_fallback_copy_bytes(&t->in[j]);
	return bf16_fallback_own_scratch(t) + (t->no_grad ? 1 : 2) * all;
}

static int
bf16_fallback_prepare(struct task *t)
{
	t->reads = bf16_fallback_fp32(t)->reads;
	return bf16_fallback_fp32(t)->prepare != NULL ?
	    bf16_fallback_fp32(t)->prepare(t) : 0;
}

static void
bf16_fallback_release(struct task *t)
{
	if (bf16_fallback_fp32(t)->release != NULL)
		bf16_fallback_fp32(t)->release(t);
}

static size_t
bf16_fallback_saved(const struct task *t)
{
	return bf16_fallback_fp32(t)->saved != NULL ?
	    bf16_fallback_fp32(t)->saved(t) : 0;
}

static size_t
bf16_fallback_kept(const struct task *t)
{
	return bf16_fallback_fp32(t)->packed_bytes != NULL ?
	    bf16_fallback_fp32(t)->packed_bytes(t) : 0;
}

/* Reserve memory for a copy at ${*at}; return ${x} itself if it needs none. */
static void *
bf16_fallback_reserve(char **at, const struct dims *d, const void *x)
{
	void *p = *at;

	if (!bf16_is(d) || x == NULL)
		return (void *)x;
	*at += bf16_fallback_copy_bytes(d);
	return p;
}

static void *
bf16_fallback_copy(struct task *t, char **at, const struct dims *d,
    const void *x)
{
	void *p = bf16_fallback_reserve(at, d, x);

	if (p != x)
		bf16_widen(t, d, p, x);
	return p;
}

/*
 * Change the task itself and restore it afterwards, because fp32 operators keep
 * pointers to it.
 */
static void
bf16_fallback_forward(struct task *t)
{
	const struct task was = *t;
	char *at = (char *)t->scratch + bf16_fallback_own_scratch(t);

	for (int j = 0; j < t->op->nin; j++)
		t->x[j] = bf16_fallback_copy(t, &at, &t->in[j], was.x[j]);
	t->y = bf16_fallback_reserve(&at, &t->out, was.y);
	bf16_fallback_fp32(t)->forward(t);
	if (t->y != was.y)
		bf16_narrow(t, &t->out, was.y, t->y, 0);
	*t = was;
}

static void
bf16_fallback_backward(struct task *t)
{
	const struct task was = *t;
	char *at = (char *)t->scratch + bf16_fallback_own_scratch(t);

	if (bf16_fallback_fp32(t)->backward == NULL)
		return;
	for (int j = 0; j < t->op->nin; j++) {
		if (task_reads(t) & READS_X)
			t->x[j] = bf16_fallback_copy(t, &at, &t->in[j],
			    was.x[j]);
		t->dx[j] = bf16_fallback_reserve(&at, &t->in[j], was.dx[j]);
		if (t->dx[j] != was.dx[j])
			t->accumulate[j] = 0;
	}
	if (task_reads(t) & READS_Y)
		t->y = bf16_fallback_copy(t, &at, &t->out, was.y);
	t->dy = bf16_fallback_copy(t, &at, &t->out, was.dy);
	bf16_fallback_fp32(t)->backward(t);
	for (int j = 0; j < t->op->nin; j++)
		if (t->dx[j] != was.dx[j])
			bf16_narrow(t, &t->in[j], was.dx[j], t->dx[j],
			    was.accumulate[j]);
	*t = was;
}

static void
bf16_fallback_describe(const struct task *t, char *text, size_t size)
{
	if (bf16_fallback_fp32(t)->describe != NULL)
		bf16_fallback_fp32(t)->describe(t, text, size);
}

const struct op_impl bf16_fallback = {
	.prepare = bf16_fallback_prepare, .release = bf16_fallback_release,
	.saved = bf16_fallback_saved, .scratch = bf16_fallback_scratch,
	.packed_bytes = bf16_fallback_kept, .forward = bf16_fallback_forward,
	.backward = bf16_fallback_backward, .describe = bf16_fallback_describe,
};
