/*
 * Run an operator by its fp32 functions.  Widen bf16 activations into the
 * scratch memory first, and round the results afterwards.
 */
#include <string.h>

#include "backend/cpu/half/half.h"

static const struct op_impl *
half_widened_fp32(const struct task *t)
{
	return cpu_ops[t->op->kind];
}

/* Bytes of the copy of an activation; 0 if it is fp32 already. */
static size_t
half_widened_copy_bytes(const struct dims *d)
{
	return half_is(d) ? (cpu_floats(d) * sizeof(float) + 63) / 64 * 64 : 0;
}

static size_t
half_widened_own_scratch(const struct task *t)
{
	size_t own = half_widened_fp32(t)->scratch != NULL ?
	    half_widened_fp32(t)->scratch(t) : 0;

	return (own + 63) / 64 * 64;
}

/*
 * Scratch: that of the fp32 operator, then copies of inputs and output, and of
 * their gradients.
 */
static size_t
half_widened_scratch(const struct task *t)
{
	size_t all = half_widened_copy_bytes(&t->out);

	for (int j = 0; j < t->op->nin; j++)
		all += half_widened_copy_bytes(&t->in[j]);
	return half_widened_own_scratch(t) + (t->idle ? 1 : 2) * all;
}

static int
half_widened_prepare(struct task *t)
{
	t->reads = half_widened_fp32(t)->reads;
	return half_widened_fp32(t)->prepare != NULL ?
	    half_widened_fp32(t)->prepare(t) : 0;
}

static void
half_widened_release(struct task *t)
{
	if (half_widened_fp32(t)->release != NULL)
		half_widened_fp32(t)->release(t);
}

static size_t
half_widened_saved(const struct task *t)
{
	return half_widened_fp32(t)->saved != NULL ?
	    half_widened_fp32(t)->saved(t) : 0;
}

static size_t
half_widened_kept(const struct task *t)
{
	return half_widened_fp32(t)->kept != NULL ?
	    half_widened_fp32(t)->kept(t) : 0;
}

/* Reserve memory for a copy at ${*at}; return ${x} itself if it needs none. */
static void *
half_widened_reserve(char **at, const struct dims *d, const void *x)
{
	void *p = *at;

	if (!half_is(d) || x == NULL)
		return (void *)x;
	*at += half_widened_copy_bytes(d);
	return p;
}

static void *
half_widened_copy(struct task *t, char **at, const struct dims *d,
    const void *x)
{
	void *p = half_widened_reserve(at, d, x);

	if (p != x)
		half_widen(t, d, p, x);
	return p;
}

/*
 * Change the task itself and restore it afterwards, because fp32 operators keep
 * pointers to it.
 */
static void
half_widened_forward(struct task *t)
{
	const struct task was = *t;
	char *at = (char *)t->scratch + half_widened_own_scratch(t);

	for (int j = 0; j < t->op->nin; j++)
		t->x[j] = half_widened_copy(t, &at, &t->in[j], was.x[j]);
	t->y = half_widened_reserve(&at, &t->out, was.y);
	half_widened_fp32(t)->forward(t);
	if (t->y != was.y)
		half_narrow(t, &t->out, was.y, t->y, 0);
	*t = was;
}

static void
half_widened_backward(struct task *t)
{
	const struct task was = *t;
	char *at = (char *)t->scratch + half_widened_own_scratch(t);

	if (half_widened_fp32(t)->backward == NULL)
		return;
	for (int j = 0; j < t->op->nin; j++) {
		if (task_reads(t) & READS_X)
			t->x[j] = half_widened_copy(t, &at, &t->in[j],
			    was.x[j]);
		t->dx[j] = half_widened_reserve(&at, &t->in[j], was.dx[j]);
		if (t->dx[j] != was.dx[j])
			t->accumulate[j] = 0;
	}
	if (task_reads(t) & READS_Y)
		t->y = half_widened_copy(t, &at, &t->out, was.y);
	t->dy = half_widened_copy(t, &at, &t->out, was.dy);
	half_widened_fp32(t)->backward(t);
	for (int j = 0; j < t->op->nin; j++)
		if (t->dx[j] != was.dx[j])
			half_narrow(t, &t->in[j], was.dx[j], t->dx[j],
			    was.accumulate[j]);
	*t = was;
}

static void
half_widened_describe(const struct task *t, char *text, size_t size)
{
	if (half_widened_fp32(t)->describe != NULL)
		half_widened_fp32(t)->describe(t, text, size);
}

const struct op_impl half_widened = {
	.prepare = half_widened_prepare, .release = half_widened_release,
	.saved = half_widened_saved, .scratch = half_widened_scratch,
	.kept = half_widened_kept, .forward = half_widened_forward,
	.backward = half_widened_backward, .describe = half_widened_describe,
};
